import { Worker } from 'node:worker_threads';
import { isTimeout, untilStopped } from '../../lib/time-limit.ts';
import type { TriggerEvent } from '../event.ts';
import { evaluate, failed, type Judgement } from './evaluate.ts';
import { type CompiledFields, compileFields, type ExpressionFields } from './fields.ts';

/** The time of one turn of the event loop. Expressions take 5 to 50 µs, so that a batch of hundreds needs one turn. */
const turnMs = 20;

/** An event, and the expressions of its trigger. */
export interface Job {
  definition: ExpressionFields;
  event: TriggerEvent;
  /** The most bytes of a payload, as JSON. */
  maxPayloadBytes: number;
}

/** A job that was stopped is judged again on a thread, where it holds up no request. */
class Thread {
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();

  #start(): Worker {
    const worker = new Worker(new URL('./thread.ts', import.meta.url));
    worker.unref();
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    this.#worker = worker;
    return worker;
  }

  async #run(job: Job): Promise<Judgement> {
    const worker = this.#worker ?? this.#start();
    worker.ref();
    try {
      return await new Promise<Judgement>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
        worker.postMessage(job);
      });
    } catch (error) {
      this.#worker = null;
      void worker.terminate();
      return failed(error);
    } finally {
      worker.removeAllListeners('message');
      worker.removeAllListeners('error');
      worker.unref();
    }
  }

  /** Judges one job at a time, in the order in which they are given. */
  judge(job: Job): Promise<Judgement> {
    const judged = this.#last.then(() => this.#run(job));
    this.#last = judged;
    return judged;
  }
}

const thread = new Thread();

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Compiled before the clock runs: what is stopped in the middle must not leave half an entry in a cache. */
const compiled = (job: Job): CompiledFields | Judgement => {
  try {
    return compileFields(job.definition);
  } catch (error) {
    return failed(error);
  }
};

/**
 * Judges events by the expressions of their triggers, in order. All expressions of one event together take at most
 * 100 ms, else it is `invalid`. A batch is one call of `vm`; what is slow goes on on a thread of its own.
 */
export const judge = async (jobs: readonly Job[]): Promise<Judgement[]> => {
  const fields = jobs.map(compiled);
  const judged: Judgement[] = [];
  const judgeNext = () => {
    const one = fields[judged.length]!;
    const { event, maxPayloadBytes } = jobs[judged.length]!;
    judged.push('outcome' in one ? one : evaluate(one, event, maxPayloadBytes));
  };
  while (judged.length < jobs.length) {
    const before = judged.length;
    try {
      untilStopped(turnMs, () => {
        while (judged.length < jobs.length) judgeNext();
      });
    } catch (error) {
      if (!isTimeout(error)) judged.push(failed(error));
      // If others took the time of the turn, this one may be fast.
      else if (judged.length === before) judged.push(await thread.judge(jobs[before]!));
      await nextTurn();
    }
  }
  return judged;
};
