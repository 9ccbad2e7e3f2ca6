"""A Slurm cluster of several nodes on the loopback interface, from Debian's packages, with a key and folders of its own.

Raises Skip where it cannot run. Every process is ended by its own id; leave() checks that none is left.
"""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from local_servers import free_ports, processes_naming, stop_process, wait_until
from trace_cases import Skip, require

CONFIGURATION = """ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
MailProg=/bin/true
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1
ReturnToService=2
JobRequeue=1
{requeue}
SlurmdTimeout=10
KillWait=2
MaxArraySize=100001
MaxJobCount=100000
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/%n
SlurmdParameters=config_overrides
"""
FINAL_STATES = ("CD", "F", "CA", "TO", "NF", "OOM")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo")


def require_slurm():
    missing = [name for name in PROGRAMS if shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") is None]
    if missing:
        raise Skip(f"{missing[0]} is not installed (Debian: slurmctld slurmd slurm-client munge)")
    if os.geteuid() != 0:
        raise Skip("slurmd here runs as root only")
    if not Path("/sys/fs/cgroup/cpu").is_dir():
        raise Skip("no cgroup v1 file system, without which slurmd 22.05 does not start")
    try:
        socket.gethostbyname(socket.gethostname())
    except OSError:
        raise Skip(f"the name of this host, {socket.gethostname()}, does not resolve") from None


class MiniSlurm:
    def __init__(self, folder, nodes=3, cpus=2):
        require_slurm()
        self.folder, self.nodes, self.cpus = Path(folder), nodes, cpus
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": "/usr/sbin:" + os.environ["PATH"]}

    def __enter__(self):
        for name in ("state", "log"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        munge = self.folder / "munge"
        munge.mkdir(mode=0o755)
        (munge / "key").write_bytes(os.urandom(128))
        (munge / "key").chmod(0o600)
        self.ports = free_ports(self.nodes + 1)
        self.configure("RequeueExit=5,6")
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n", encoding="utf-8")
        try:
            self.run("munged", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                     f"--log-file={munge}/log", f"--seed-file={munge}/seed", "--num-threads=2")
            self.run("slurmctld", "-f", self.folder / "slurm.conf")
            for node in range(1, self.nodes + 1):
                (self.folder / f"spool-n{node}").mkdir()
                self.run("slurmd", "-N", f"n{node}", "-f", self.folder / "slurm.conf")
            wait_until(lambda: self.run("sinfo", "-h", "-o", "%D %t", check=False).strip() == f"{self.nodes} idle",
                       "the nodes are idle")
        except BaseException:
            self.leave()
            raise
        return self

    def __exit__(self, *_):
        self.leave()

    def configure(self, requeue):
        host = socket.gethostname().split(".")[0]
        text = CONFIGURATION.format(host=host, folder=self.folder, ports=self.ports, requeue=requeue)
        text += "".join(f"NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={self.ports[node]} CPUs={self.cpus} "
                        "RealMemory=1000\n" for node in range(1, self.nodes + 1))
        text += "PartitionName=ingest Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
        (self.folder / "slurm.conf").write_text(text, encoding="utf-8")

    def run(self, *command, check=True, **variables):
        result = subprocess.run([str(word) for word in command], env={**self.environment, **variables}, capture_output=True,
                                text=True, timeout=60, check=False)
        require(result.returncode == 0 or not check, f"{command[0]}: {result.stderr}{result.stdout}")
        return result.stdout

    def submit(self, script, *options, **variables):
        return self.run("sbatch", "--parsable", *options, script, **variables).strip()

    def wait_for_jobs(self):
        """Until all have ended, twice in a row: a task is in no state that counts while it is being requeued. A requeued
        task is then held for two minutes, of which some seconds are enough: slurmd refuses it in the second in which it
        ended."""
        ended, held_since = 0, {}

        def none_left():
            nonlocal ended
            lines = [line.split(maxsplit=2) for line in self.run("squeue", "-h", "-r", "-t", "all", "-o", "%A %t %r").splitlines()]
            unfinished = [line for line in lines if line[1] not in FINAL_STATES]
            for job, state, reason in unfinished:
                if state == "PD" and reason == "BeginTime" and time.monotonic() - held_since.setdefault(job, time.monotonic()) > 3:
                    held_since.pop(job)
                    self.run("scontrol", "update", f"jobid={job}", "starttime=now", check=False)
            ended = 0 if unfinished else ended + 1
            return ended == 2
        wait_until(none_left, "all jobs have ended", seconds=240, step=0.5)

    def processes_on(self, node):
        """Ids of the tasks that run on the node, and of the slurmstepd above them."""
        wanted = {f"SLURMD_NODENAME=n{node}".encode(), f"SLURM_CONF={self.folder}/slurm.conf".encode()}
        found = set()
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if wanted <= set((process / "environ").read_bytes().split(b"\0")):
                    found.add(int(process.name))
                    parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
                    if b"slurmstepd" in Path(f"/proc/{parent}/cmdline").read_bytes():
                        found.add(parent)
        return found

    def kill_node(self, node):
        """slurmd, its steps and what they run, all at once; the controller is told, else it takes half a minute."""
        daemon = int((self.folder / f"slurmd-n{node}.pid").read_text())
        for number in (daemon, *self.processes_on(node)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        self.run("scontrol", "update", f"nodename=n{node}", "state=down", "reason=killed")

    def leave(self):
        if (self.folder / "slurmctld.pid").exists():
            self.run("scancel", "--user=root", check=False)
            deadline = time.monotonic() + 20
            while self.run("squeue", "-h", check=False).strip() and time.monotonic() < deadline:
                time.sleep(0.2)
        for file in (*sorted(self.folder.glob("slurmd-*.pid")), self.folder / "slurmctld.pid", self.folder / "munge/pid"):
            if file.exists():
                stop_process(int(file.read_text()), str(self.folder))
        for number in processes_naming(str(self.folder)):  # slurmstepd of a killed job
            stop_process(number, str(self.folder))
        require(processes_naming(str(self.folder)) == [], "a process of the cluster is left")
