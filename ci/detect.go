package ci

import "os"

// system is one continuous-integration system: the variable that is set
// there and nowhere else, and those that together name one run of one job.
type system struct {
	name, mark string
	id         []string
}

// The order matters where a system sets another's mark too for compatibility.
var systems = []system{
	{"Forgejo Actions", "FORGEJO_ACTIONS", []string{"GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB"}},
	{"Gitea Actions", "GITEA_ACTIONS", []string{"GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB"}},
	{"GitHub Actions", "GITHUB_ACTIONS", []string{"GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB"}},
	{"GitLab CI", "GITLAB_CI", []string{"CI_PIPELINE_ID", "CI_JOB_ID"}},
	{"Buildkite", "BUILDKITE", []string{"BUILDKITE_BUILD_ID", "BUILDKITE_JOB_ID"}},
	{"Jenkins", "JENKINS_URL", []string{"BUILD_TAG"}},
	{"CircleCI", "CIRCLECI", []string{"CIRCLE_WORKFLOW_ID", "CIRCLE_BUILD_NUM"}},
	{"Azure Pipelines", "TF_BUILD", []string{"BUILD_BUILDID", "SYSTEM_JOBID"}},
	{"TeamCity", "TEAMCITY_VERSION", []string{"BUILD_NUMBER"}},
	{"Bitbucket Pipelines", "BITBUCKET_BUILD_NUMBER", []string{"BITBUCKET_BUILD_NUMBER", "BITBUCKET_STEP_UUID"}},
	{"AWS CodeBuild", "CODEBUILD_BUILD_ID", []string{"CODEBUILD_BUILD_ID"}},
	{"Prow", "PROW_JOB_ID", []string{"PROW_JOB_ID", "BUILD_ID"}},
	{"Travis CI", "TRAVIS", []string{"TRAVIS_JOB_ID"}},
	{"Cirrus CI", "CIRRUS_CI", []string{"CIRRUS_TASK_ID"}},
	{"Semaphore", "SEMAPHORE", []string{"SEMAPHORE_JOB_ID"}},
	{"AppVeyor", "APPVEYOR", []string{"APPVEYOR_JOB_ID"}},
	{"Drone", "DRONE", []string{"DRONE_BUILD_NUMBER", "DRONE_STAGE_NUMBER"}},
	{"Woodpecker", "CI_PIPELINE_FORGE_URL", []string{"CI_PIPELINE_NUMBER", "CI_WORKFLOW_NUMBER"}},
}

// Detect names the continuous-integration system that runs this process,
// "GitHub Actions" for instance; "CI" when only the variable CI says that
// there is one; empty when there is none.
func Detect() string {
	name, _ := detect(os.LookupEnv)
	return name
}

func detect(lookup func(string) (string, bool)) (name, run string) {
	for _, s := range systems {
		if on(lookup, s.mark) {
			return s.name, runID(lookup, s.id)
		}
	}
	if on(lookup, "CI") {
		return "CI", runID(lookup, []string{"BUILD_ID", "BUILD_NUMBER"})
	}
	return "", ""
}

// on is true for a variable with any value but those that say no. Unlike a
// switch of ours it is set by others, to "true", "True" or a name.
func on(lookup func(string) (string, bool), key string) bool {
	value, _ := lookup(key)
	switch value {
	case "", "0", "false", "False", "FALSE", "no":
		return false
	}
	return true
}

func runID(lookup func(string) (string, bool), keys []string) string {
	id := ""
	for _, key := range keys {
		value, _ := lookup(key)
		if value == "" {
			continue
		}
		if id != "" {
			id += "/"
		}
		id += value
	}
	return id
}
