import { setTimeout as sleep } from 'node:timers/promises';
import { pick, type Random } from '../../../../packages/cron/tests/random.ts';
import type { Client, ClientResponse } from '../../../harness/http.ts';
import type { PlatformProcess } from '../../../harness/process.ts';
import type { Fixture } from '../fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** How long a client tries to get a response to one request before it counts as a problem: longer than any outage. */
const patienceMs = 180_000;

export interface AskOptions {
  base?: string;
  /** Statuses that are right, next to 2xx. */
  also?: number[];
  /** The replica to ask; any if it is left out. */
  replica?: number;
}

/** Requests of clients that know replicas fail: what got no response is counted, what is wrong is a problem. */
export class Caller {
  readonly fixture: Fixture;
  readonly random: Random;
  /** Finished pieces of work, by their kind. */
  readonly done: Record<string, number> = {};
  readonly problems: string[] = [];
  /** What replicas logged as an error, and how often. */
  readonly logged: Record<string, number> = {};
  unanswered = 0;
  unavailable = 0;

  constructor(fixture: Fixture, random: Random) {
    this.fixture = fixture;
    this.random = random;
  }

  /** Counts what a process that ends has logged. A line that is no JSON is one of Node: an error that no one caught. */
  readLog({ output }: PlatformProcess): void {
    for (const line of output().split('\n')) {
      if (line === '' || /^(Debugger |For help|Warning: )/.test(line)) continue;
      let text = `not caught: ${line.slice(0, 200)}`;
      try {
        const { msg, err } = JSON.parse(line);
        text = `${msg}${err ? `: ${String(err.message).slice(0, 120)}` : ''}`;
      } catch {}
      this.logged[text] = (this.logged[text] ?? 0) + 1;
    }
  }

  count(kind: string): void {
    this.done[kind] = (this.done[kind] ?? 0) + 1;
  }

  problem(text: string): void {
    if (this.problems.length < 1_000) this.problems.push(`${new Date().toISOString()} ${text}`);
  }

  /** The number of a replica, by chance. */
  replica(): number {
    return pick(this.random, [...this.fixture.replicas.keys()]);
  }

  /** One request to any replica. Resolves to the body of a success, or null; `retry`: there was no response or a 503. */
  async #send(
    fn: (api: Client) => Promise<ClientResponse>,
    options: AskOptions,
  ): Promise<[Json, retry: boolean]> {
    const { base = '/api/v2', also = [], replica = this.replica() } = options;
    let response: ClientResponse;
    try {
      response = await fn(this.fixture.api(replica, base));
    } catch {
      this.unanswered++;
      return [null, true];
    }
    const { status, headers, body, text } = response;
    if (status < 300 || also.includes(status)) return [body ?? {}, false];
    const unavailable = status === 503 && headers.has('retry-after');
    if (unavailable) this.unavailable++;
    else this.problem(`${status} ${text.slice(0, 300)}`);
    return [null, unavailable];
  }

  /** One request. Resolves to the body of a success or of a status in `also`; else null. */
  async ask(fn: (api: Client) => Promise<ClientResponse>, options: AskOptions = {}): Promise<Json> {
    return (await this.#send(fn, options))[0];
  }

  /** The same, again and again until there is a response. */
  async insist(fn: (api: Client) => Promise<ClientResponse>, options: AskOptions = {}): Promise<Json> {
    for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(200)) {
      const [body, retry] = await this.#send(fn, options);
      if (!retry) return body;
    }
    this.problem(`no response within ${patienceMs / 1_000} s`);
    return null;
  }
}
