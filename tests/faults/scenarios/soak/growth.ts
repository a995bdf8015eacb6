import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { processMicros, residentMb } from '../../../harness/proc.ts';
import type { PlatformProcess } from '../../../harness/process.ts';

/** What a process holds, after a garbage collection. */
export interface Sample {
  at: number;
  /** MB. */
  resident: number;
  heap: number;
  external: number;
  files: number;
  sockets: number;
  timers: number;
  /** All that keeps the event loop of Node busy. */
  handles: number;
  children: number;
  /** Files in DATA_DIR/tmp and DATA_DIR/sandbox. */
  temporary: number;
}

type Measure = Exclude<keyof Sample, 'at'>;

/** The most that a measure may grow in an hour, by the second half of the life of a process. */
export const mostPerHour: Record<Measure, number> = {
  resident: 30,
  heap: 6,
  external: 6,
  files: 6,
  sockets: 6,
  timers: 6,
  handles: 6,
  children: 1,
  temporary: 2,
};

/** The least samples that a slope is computed of: fewer say more of the moment than of a trend. */
const leastSamples = 15;

/** Calls methods of the inspector of a process that was started with `--inspect`. */
const inspect = async (process: PlatformProcess, calls: [method: string, params: object][]) => {
  const address = /Debugger listening on (ws:\S+)/.exec(process.output())![1]!;
  const socket = new WebSocket(address);
  try {
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error('the inspector does not respond'));
    });
    const results: { result: { value: unknown } }[] = [];
    for (const [id, [method, params]] of calls.entries()) {
      socket.send(JSON.stringify({ id, method, params }));
      const message = await new Promise<MessageEvent>((resolve, reject) => {
        socket.onmessage = resolve;
        socket.onclose = () => reject(new Error('the process has ended'));
      });
      results.push(JSON.parse(message.data).result);
    }
    return results;
  } finally {
    socket.close();
  }
};

const expression = `JSON.stringify([process.memoryUsage(), process.getActiveResourcesInfo()])`;

const filesBelow = (folder: string): number => {
  try {
    return readdirSync(folder, { recursive: true }).length;
  } catch {
    return 0;
  }
};

/** Takes a sample of a replica that was started with `NODE_OPTIONS=--inspect=127.0.0.1:0`. */
export const takeSample = async (process: PlatformProcess): Promise<Sample> => {
  const [, , evaluated] = await inspect(process, [
    ['HeapProfiler.collectGarbage', {}],
    ['HeapProfiler.collectGarbage', {}],
    ['Runtime.evaluate', { expression }],
  ]);
  const [memory, handles] = JSON.parse(String(evaluated!.result.value)) as [NodeJS.MemoryUsage, string[]];
  const { pid, dataDir } = process;
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  const sockets = open.filter((target) => target.startsWith('socket:')).length;
  return {
    at: Date.now(),
    resident: residentMb(pid),
    heap: memory.heapUsed / 1_048_576,
    external: memory.external / 1_048_576,
    files: open.length - sockets,
    sockets,
    timers: handles.filter((name) => name === 'Timeout' || name === 'Immediate').length,
    handles: handles.length,
    children: readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).length,
    temporary: filesBelow(join(dataDir, 'tmp')) + filesBelow(join(dataDir, 'sandbox')),
  };
};

const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
};

/** The growth in an hour by Theil and Sen: the median of the slopes of all pairs, which outliers do not move. */
export const slopePerHour = (points: readonly { at: number; value: number }[]): number => {
  const slopes: number[] = [];
  for (const [i, a] of points.entries()) {
    for (const b of points.slice(i + 1)) slopes.push(((b.value - a.value) / (b.at - a.at)) * 3_600_000);
  }
  return median(slopes);
};

/** The samples of one process, from its start to its end. */
export class Life {
  readonly samples: Sample[] = [];
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }

  /** The growth of each measure in an hour, by the second half; null if the life was too short. */
  growth(): Record<Measure, number> | null {
    const half = this.samples.slice(Math.floor(this.samples.length / 2));
    if (half.length < leastSamples) return null;
    const measures = Object.keys(mostPerHour) as Measure[];
    return Object.fromEntries(
      measures.map((name) => [name, slopePerHour(half.map((one) => ({ at: one.at, value: one[name] })))]),
    ) as Record<Measure, number>;
  }

  problems(): string[] {
    return Object.entries(this.growth() ?? {}).flatMap(([name, growth]) =>
      growth <= mostPerHour[name as Measure]
        ? []
        : `${this.name}: ${name} grows by ${growth.toFixed(1)} an hour, more than ${mostPerHour[name as Measure]}`,
    );
  }
}

/** The share of one core that processes use, from one call to the next. Ended processes are left out. */
export class CpuShare {
  readonly #before = new Map<number, number>();
  #at = performance.now();

  of(pids: readonly number[]): number {
    const now = performance.now();
    const took = now - this.#at;
    this.#at = now;
    let micros = 0;
    for (const pid of pids) {
      const used = processMicros(pid) ?? 0;
      const before = this.#before.get(pid);
      if (before !== undefined) micros += used - before;
      this.#before.set(pid, used);
    }
    return micros / 1_000 / took;
  }
}
