"""ClickHouse servers on the loopback interface, each a shard of one cluster, from Debian's package (18.16).

Raises Skip where they cannot run. Each is ended by its own id; leave() checks that none is left.
"""
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from local_servers import free_ports, processes_naming, stop_process, wait_until
from trace_cases import ROOT, Skip, require

WAREHOUSE = ROOT / "tools/fleet/warehouse"
sys.path.insert(0, str(WAREHOUSE))
from server import Server, ServerError  # noqa: E402

CONFIGURATION = """<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host><tcp_port>{tcp}</tcp_port><http_port>{http}</http_port>
<interserver_http_port>{internal}</interserver_http_port><interserver_http_host>127.0.0.1</interserver_http_host>
<path>{folder}/data/</path><tmp_path>{folder}/scratch/</tmp_path><mark_cache_size>268435456</mark_cache_size>
<users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<remote_servers><fleet>{shards}</fleet></remote_servers>
</yandex>
"""
SHARD = ("<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>{}</port></replica>"
         "</shard>")
USERS = """<yandex><profiles><default><max_memory_usage>6000000000</max_memory_usage>
<allow_experimental_low_cardinality_type>1</allow_experimental_low_cardinality_type></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default></users><quotas><default></default></quotas></yandex>
"""


class MiniClickHouse:
    def __init__(self, folder, servers=2):
        self.program = shutil.which("clickhouse-server", path="/usr/sbin:/usr/bin:/sbin:/bin")
        if self.program is None:
            raise Skip("clickhouse-server is not installed (Debian: clickhouse-server)")
        self.folder, self.processes = Path(folder), [None] * servers
        ports = free_ports(3 * servers)
        self.ports = [dict(zip(("tcp", "http", "internal"), ports[3 * i:3 * i + 3])) for i in range(servers)]
        self.servers = [Server(f"http://127.0.0.1:{port['http']}") for port in self.ports]

    def __enter__(self):
        shards = "".join(SHARD.format(port["tcp"]) for port in self.ports)
        try:
            for number, port in enumerate(self.ports):
                own = self.folder / f"s{number}"
                own.mkdir(parents=True)
                (own / "config.xml").write_text(CONFIGURATION.format(folder=own, shards=shards, **port), encoding="utf-8")
                (own / "users.xml").write_text(USERS, encoding="utf-8")
                self.start(number)
        except BaseException:
            self.leave()
            raise
        return self

    def __exit__(self, *_):
        self.leave()

    def start(self, number):
        own = self.folder / f"s{number}"
        with open(own / "output", "ab") as output:
            self.processes[number] = subprocess.Popen([self.program, f"--config-file={own}/config.xml"], cwd=own, stdout=output,
                                                      stderr=output)

        def answers():
            require(self.processes[number].poll() is None, f"the server ended: {(own / 'output').read_text()[-2000:]}")
            try:
                return self.servers[number].run("SELECT 1") == "1\n"
            except ServerError:
                return False
        wait_until(answers, "the server answers")

    def kill(self, number):
        self.processes[number].send_signal(signal.SIGKILL)
        self.processes[number].wait()

    def leave(self):
        for process in self.processes:
            if process is not None and process.poll() is None:
                stop_process(process.pid, str(self.folder))
                process.wait()
        others = [number for number in processes_naming(str(self.folder)) if number != os.getpid()]
        require(others == [], "a process of the servers is left")


def statements(file):
    """Of an SQL file; comments may have semicolons."""
    lines = [line.split("--", 1)[0] for line in (WAREHOUSE / file).read_text(encoding="utf-8").splitlines()]
    return [text.strip() for text in "\n".join(lines).split(";") if text.strip()]


def make_tables(server, *files):
    for file in files:
        for statement in statements(file):
            server.run(statement)
