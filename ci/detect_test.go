package ci

import "testing"

func TestDetect(t *testing.T) {
	for _, row := range []struct {
		env      vars
		name, id string
	}{
		{vars{}, "", ""},
		{vars{"CI": "false"}, "", ""},
		{vars{"CI": ""}, "", ""},
		{vars{"CI": "true"}, "CI", ""},
		{vars{"CI": "1", "BUILD_ID": "9"}, "CI", "9"},
		{vars{"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "5", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "gpu"}, "GitHub Actions", "5/1/gpu"},
		{vars{"GITHUB_ACTIONS": "true", "GITEA_ACTIONS": "true", "GITHUB_RUN_ID": "5"}, "Gitea Actions", "5"},
		{vars{"GITHUB_ACTIONS": "true", "FORGEJO_ACTIONS": "true", "GITEA_ACTIONS": "true"}, "Forgejo Actions", ""},
		{vars{"GITLAB_CI": "true", "CI_PIPELINE_ID": "3", "CI_JOB_ID": "4"}, "GitLab CI", "3/4"},
		{vars{"BUILDKITE": "true", "BUILDKITE_BUILD_ID": "b", "BUILDKITE_JOB_ID": "j"}, "Buildkite", "b/j"},
		{vars{"JENKINS_URL": "http://ci/", "BUILD_TAG": "jenkins-x-1"}, "Jenkins", "jenkins-x-1"},
		{vars{"CIRCLECI": "true", "CIRCLE_WORKFLOW_ID": "w", "CIRCLE_BUILD_NUM": "2"}, "CircleCI", "w/2"},
		{vars{"TF_BUILD": "True", "BUILD_BUILDID": "8", "SYSTEM_JOBID": "z"}, "Azure Pipelines", "8/z"},
		{vars{"TEAMCITY_VERSION": "2025.1", "BUILD_NUMBER": "7"}, "TeamCity", "7"},
		{vars{"BITBUCKET_BUILD_NUMBER": "6"}, "Bitbucket Pipelines", "6"},
		{vars{"CODEBUILD_BUILD_ID": "p:1"}, "AWS CodeBuild", "p:1"},
		{vars{"PROW_JOB_ID": "q", "BUILD_ID": "1"}, "Prow", "q/1"},
		{vars{"TRAVIS": "true", "TRAVIS_JOB_ID": "11"}, "Travis CI", "11"},
		{vars{"CIRRUS_CI": "true", "CIRRUS_TASK_ID": "12"}, "Cirrus CI", "12"},
		{vars{"SEMAPHORE": "true", "SEMAPHORE_JOB_ID": "13"}, "Semaphore", "13"},
		{vars{"APPVEYOR": "True", "APPVEYOR_JOB_ID": "14"}, "AppVeyor", "14"},
		{vars{"DRONE": "true", "DRONE_BUILD_NUMBER": "15"}, "Drone", "15"},
		{vars{"CI": "woodpecker", "CI_PIPELINE_FORGE_URL": "http://f/", "CI_PIPELINE_NUMBER": "16", "CI_WORKFLOW_NUMBER": "1"}, "Woodpecker", "16/1"},
		{vars{"GITHUB_ACTIONS": "false", "CI": "true"}, "CI", ""},
	} {
		name, id := detect(row.env.lookup)
		if name != row.name || id != row.id {
			t.Errorf("%v: got %q, %q; want %q, %q", row.env, name, id, row.name, row.id)
		}
	}
}

// Every system must be found by its own mark alone, or its row is dead.
func TestEverySystemIsFoundByItsMark(t *testing.T) {
	for _, s := range systems {
		if name, _ := detect(vars{s.mark: "x"}.lookup); name != s.name {
			t.Errorf("%s=x: got %q, want %q", s.mark, name, s.name)
		}
	}
}
