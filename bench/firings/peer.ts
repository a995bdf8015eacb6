import type { Made } from './measure.ts';

// biome-ignore lint/suspicious/noExplicitAny: the peers are not dependencies, so their types are not known here
export type Module = any;

/** Where a peer keeps its schedules and jobs. */
export interface Store {
  /** Of a database, or of a Redis, that nobody else uses and that is empty. */
  url: string;
  /** Loads a package from the folder of the peers. */
  load(name: string): Module;
}

/** A peer at work: `n` schedules of its own, all due at one instant. */
export interface RunningPeer {
  /** How many jobs of that instant there are. Asked four times a second, so it must cost little. */
  count(): Promise<number>;
  /** All of them. */
  jobs(): Promise<Made[]>;
  stop(): Promise<void>;
}

export interface Peer {
  /** The package, which is also what the table calls it. */
  name: string;
  /** What was set, for the table. */
  settings: string;
  /** True for the defaults where settings help: shown for the smallest herd only. */
  untuned: boolean;
  store: 'postgres' | 'redis';
  /** The finest time that its crons know, in milliseconds. */
  resolutionMs: number;
  /** True where its jobs come of something less than a schedule each: shown beside, never compared with. */
  noSchedules?: boolean;
  /** Starts it with `n` schedules that are due at `due`; jobs are made and not carried out. */
  start(store: Store, n: number, due: Date): Promise<RunningPeer>;
}

/** Every hour at that minute and second, with seconds as both peers with such crons write them: first at `due`. */
export const cronAt = (due: Date): string => `${due.getUTCSeconds()} ${due.getUTCMinutes()} * * * *`;
