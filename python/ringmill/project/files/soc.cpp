// The SoC of board/soc.py under Verilator. Its serial line is a socket of this machine:
//
//   soc PORT     listens on 127.0.0.1:PORT (0: a free one, which it prints), serves one host, ends when that goes
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "Vsoc.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

namespace {

// Clocks between two looks at the socket while nothing is there to be read.
constexpr std::uint64_t kLook = 64;
constexpr int kResetClocks = 16;

int listening(int port) {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  socklen_t size = sizeof at;
  if (file < 0 || bind(file, reinterpret_cast<sockaddr*>(&at), size) || listen(file, 1) ||
      getsockname(file, reinterpret_cast<sockaddr*>(&at), &size)) {
    std::perror("soc: no socket");
    std::exit(1);
  }
  std::printf("listening on 127.0.0.1:%d\n", ntohs(at.sin_port));
  std::fflush(stdout);
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  const int door = listening(argc > 1 ? std::atoi(argv[1]) : 0);
  const int host = accept(door, nullptr, nullptr);
  close(door);
  fcntl(host, F_SETFL, O_NONBLOCK);

  VerilatedContext context;
  const auto soc = std::make_unique<Vsoc>(&context);
  std::uint8_t in[4096], out[4096];
  ssize_t have = 0, next = 0, said = 0;
  std::uint64_t clocks = 0;
  bool there = host >= 0;
  const std::clock_t start = std::clock();
  soc->serial_source_ready = 1;
  for (; there; clocks++) {
    soc->sys_rst = clocks < kResetClocks;
    if (next == have && clocks % kLook == 0) {
      const ssize_t got = recv(host, in, sizeof in, 0);
      there = got != 0;
      have = got > 0 ? got : 0;
      next = 0;
    }
    soc->serial_sink_valid = next < have;
    soc->serial_sink_data = next < have ? in[next] : 0;
    soc->sys_clk = 0;
    soc->eval();
    next += soc->serial_sink_valid && soc->serial_sink_ready && !soc->sys_rst;
    if (soc->serial_source_valid && !soc->sys_rst) out[said++] = soc->serial_source_data;
    soc->sys_clk = 1;
    soc->eval();
    if (said && (said == sizeof out || clocks % kLook == 0)) {
      for (ssize_t at = 0; at < said && there;) {
        const ssize_t sent = send(host, out + at, static_cast<std::size_t>(said - at), MSG_NOSIGNAL);
        if (sent > 0) at += sent;
        // A host that does not read is waited for.
        if (sent <= 0 && recv(host, in, 0, 0) == 0) there = false;
      }
      said = 0;
    }
  }
  soc->final();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%llu clocks, %.0f a second\n", static_cast<unsigned long long>(clocks), static_cast<double>(clocks) / seconds);
  return 0;
}
