import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Linux counts in hundredths of a second. */
const microsPerTick = 10_000;

/** The fields of /proc/PID/stat after the command, which may contain blanks: field N of proc(5) is at N - 3. */
const stat = (pid: number | string): number[] =>
  readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ').map(Number);

/** User and system time of one process; if `withEnded`, of its ended children too. */
const ticks = (pid: number | string, withEnded: boolean): number => {
  const fields = stat(pid);
  return fields.slice(11, withEnded ? 15 : 13).reduce((sum, n) => sum + n, 0);
};

/**
 * Microseconds of CPU that a process and its direct children have used, ended ones included: a PostgreSQL server is its
 * postmaster and one process for each connection. Null if there is no such process, or no /proc.
 */
export const processMicros = (pid: number): number | null => {
  // A child may end between the two looks: its time is then in that of its parent, at the next look.
  for (let tries = 0; tries < 5; tries++) {
    try {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);
      return microsPerTick * children.reduce((sum, child) => sum + ticks(child, false), ticks(pid, true));
    } catch {}
  }
  return null;
};

/** Resident memory of a process in MB (Linux, /proc). */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

/** The ids of the processes that work in a folder. */
export const processesIn = (folder: string): number[] =>
  readdirSync('/proc')
    .filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder;
      } catch {
        return false;
      }
    })
    .map(Number);
