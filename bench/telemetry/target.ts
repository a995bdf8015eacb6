import { readFileSync } from 'node:fs';

/** A process that receives traces at `url` and forwards them. */
export interface Target {
  what: string;
  pid: number;
  url: string;
  headers: Record<string, string>;
  /** The first thread does most of the work outside the kernel and zlib. */
  oneMainThread: boolean;
  stop: () => Promise<unknown>;
}

const timesIn = (path: string): number => {
  const fields = readFileSync(path, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
};

/** User and system time of a process so far, and of its first thread alone, in µs (Linux; in clock ticks of 10 ms). */
export const cpuOf = (pid: number): { all: number; main: number } => ({
  all: timesIn(`/proc/${pid}/stat`),
  main: timesIn(`/proc/${pid}/task/${pid}/stat`),
});

/** The most memory that a process ever held, in MB. */
export const peakOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
