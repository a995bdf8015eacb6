import type { Job } from './measure.ts';

// biome-ignore lint/suspicious/noExplicitAny: the peers are not dependencies, so their types are not known here
export type Module = any;

/** Where a peer keeps its schedules and jobs. */
export interface Store {
  /** The url of an empty database or Redis that no one else uses. */
  url: string;
  /** Loads a package from the folder of the peers. */
  load(name: string): Module;
}

/** A running peer: `n` schedules of its own, all due at one instant. */
export interface RunningPeer {
  /** How many jobs of that instant there are. Called four times a second, so it must cost little. */
  count(): Promise<number>;
  /** All of them. */
  jobs(): Promise<Job[]>;
  stop(): Promise<void>;
}

export interface Peer {
  /** The name of the package, which is also its name in the table. */
  name: string;
  /** Its settings, for the table. */
  settings: string;
  /** True for the default settings of a peer that can be tuned: measured with the smallest herd only. */
  defaultsOnly: boolean;
  store: 'postgres' | 'redis';
  /** The finest resolution of its crons, in milliseconds. */
  resolutionMs: number;
  /** True if its jobs come from less than one schedule each: shown, but not compared with. */
  noSchedules?: boolean;
  /** Starts it with `n` schedules that are due at `due`. Jobs are created and not executed. */
  start(store: Store, n: number, due: Date): Promise<RunningPeer>;
}

/**
 * A cron expression for every hour at that minute and second; both peers with such crons accept seconds. First due at
 * `due`.
 */
export const cronAt = (due: Date): string => `${due.getUTCSeconds()} ${due.getUTCMinutes()} * * * *`;
