import { setTimeout as sleep } from 'node:timers/promises';
import { backOff } from '../../lib/back-off.ts';
import { BrokerFailure } from '../failures.ts';
import type { BrokerMessage, Position, Reading, ReadingCalls, ReadingStatus } from './reading.ts';

/** Something that only a person changes: a missing stream or topic, a missing permission, a consumer that does not fit. */
export class Blocked extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Blocked';
  }
}

/** What is kept of a reading could not be read or stored. */
class NotKept extends Error {}

/** The source was made again or is gone: it is looked for again at once. */
export class SourceChanged extends Error {}

const firstRetryMs = 250;
const longestRetryMs = 5_000;
/** The first attempts after something was missing come sooner: whoever made the trigger may be making it. */
const blockedRetriesMs = [2_000, 5_000, 15_000];
const blockedRetryMs = 60_000;

/** What an attempt reports while it reads. */
export interface Report {
  /** The source was found, and is read from now on. */
  reading(sourceId: string): void;
  /** Messages were taken. */
  read(): void;
  positions(lag: number, positions: Position[]): void;
  /** Something fails and is tried again without a new attempt. */
  failing(message: string): void;
  recovered(): void;
}

/** Connects and reads until `signal` is aborted; rejects with what ended it. */
export type Attempt = (signal: AbortSignal, report: Report) => Promise<void>;

const isExplained = (error: unknown): error is Error =>
  error instanceof BrokerFailure ||
  error instanceof Blocked ||
  error instanceof SourceChanged ||
  error instanceof NotKept;

/** The same calls, whose failures say that it is not the broker that fails. */
export const explained = (calls: ReadingCalls): ReadingCalls => {
  const explain = <T>(promise: Promise<T>): Promise<T> =>
    promise.catch((error) => {
      throw new NotKept('The position could not be read from the database, or stored there.', {
        cause: error,
      });
    });
  return {
    take: calls.take,
    lost: (range) => explain(calls.lost(range)),
    recall: () => explain(calls.recall()),
    remember: (memory) => explain(calls.remember(memory)),
  };
};

/** Sleeps, or returns earlier when `signal` is aborted. */
export const pauseFor = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {});

/** Reads by attempts, one after the other, until it is closed. `onUnexpected` gets errors that no one explained. */
export const supervise = (attempt: Attempt, onUnexpected: (error: unknown) => void): Reading => {
  const stop = new AbortController();
  const status: ReadingStatus = {
    state: 'connecting',
    blocked: null,
    lag: null,
    last_error: null,
    last_read_at: null,
    positions: [],
    sourceId: null,
  };
  let failures = 0;
  let blockedTimes = 0;
  const ok = () => {
    status.state = 'ok';
    status.last_error = null;
    status.blocked = null;
    failures = 0;
    blockedTimes = 0;
  };
  const report: Report = {
    reading: (sourceId) => {
      status.sourceId = sourceId;
      ok();
    },
    read: () => {
      status.last_read_at = new Date();
    },
    positions: (lag, positions) => {
      status.lag = lag;
      status.positions = positions;
    },
    failing: (message) => {
      status.state = 'failing';
      status.last_error = message;
    },
    recovered: ok,
  };

  const failed = (error: unknown): number => {
    status.state = 'failing';
    if (!isExplained(error)) onUnexpected(error);
    status.last_error = isExplained(error) ? error.message : 'The connection to the broker was lost.';
    const isBlocked =
      error instanceof Blocked || (error instanceof BrokerFailure && error.reason === 'authentication');
    if (!isBlocked) return backOff(++failures, firstRetryMs, longestRetryMs);
    status.blocked = status.last_error;
    return blockedRetriesMs[blockedTimes++] ?? blockedRetryMs;
  };

  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await attempt(stop.signal, report);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (error instanceof SourceChanged) status.state = 'connecting';
        await pauseFor(failed(error), stop.signal);
      }
    }
  };
  const running = run();

  return {
    status: () => ({ ...status }),
    close: () => {
      stop.abort();
      return running;
    },
  };
};

const takeRetryMs = 250;
const longestTakeRetryMs = 5_000;

/**
 * Offers messages until they are taken. Resolves to false if `signal` was aborted before: they are not to be
 * acknowledged then.
 */
export const takeUntilTaken = async (
  messages: readonly BrokerMessage[],
  calls: Pick<ReadingCalls, 'take'>,
  signal: AbortSignal,
  report: Report,
): Promise<boolean> => {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      await calls.take(messages);
      if (failures > 1) report.recovered();
      report.read();
      return true;
    } catch {
      report.failing('Events could not be stored; they are kept at the broker meanwhile.');
      await pauseFor(backOff(failures, takeRetryMs, longestTakeRetryMs), signal);
    }
  }
  return false;
};
