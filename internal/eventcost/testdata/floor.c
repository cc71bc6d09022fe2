/*
 * The least that reading streams of events can cost: one thread, one epoll
 * descriptor, a read for each wake of a socket, a search for the beginnings of
 * events and a reading of the clock. No framing, no JSON, no counts.
 *
 * usage: floor HOST PORT STREAMS PATH
 * Prints "events N" once all connections have been closed by the server.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void check(int failed, const char *what) {
  if (failed) {
    perror(what);
    exit(1);
  }
}

int main(int argc, char **argv) {
  static char buf[1 << 16];
  static const char mark[] = "data: {";
  struct epoll_event ready[256];
  struct sockaddr_in to = {.sin_family = AF_INET};
  struct timespec now;
  long events = 0;

  if (argc != 5) {
    fprintf(stderr, "usage: floor HOST PORT STREAMS PATH\n");
    return 2;
  }
  to.sin_port = htons(atoi(argv[2]));
  check(!inet_aton(argv[1], &to.sin_addr), "address");
  int left = atoi(argv[3]);
  int epoll = epoll_create1(0);
  check(epoll < 0, "epoll_create1");
  int size = snprintf(buf, sizeof buf, "GET %s HTTP/1.1\r\nHost: null\r\nConnection: close\r\n\r\n", argv[4]);
  for (int i = 0; i < left; i++) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    check(fd < 0, "socket");
    check(connect(fd, (struct sockaddr *)&to, sizeof to) < 0, "connect");
    check(write(fd, buf, size) != size, "write");
    struct epoll_event want = {.events = EPOLLIN, .data.fd = fd};
    check(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &want) < 0, "epoll_ctl");
  }
  while (left > 0) {
    int n = epoll_wait(epoll, ready, 256, -1);
    for (int i = 0; i < n; i++) {
      ssize_t got = read(ready[i].data.fd, buf, sizeof buf);
      if (got <= 0) {
        close(ready[i].data.fd);
        left--;
        continue;
      }
      clock_gettime(CLOCK_MONOTONIC, &now);
      char *at = buf, *end = buf + got;
      while ((at = memmem(at, end - at, mark, sizeof mark - 1))) {
        at += sizeof mark - 1;
        events++;
      }
    }
  }
  printf("events %ld\n", events);
}
