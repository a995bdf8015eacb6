import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { countNames, type Totals } from './log/counts.ts';

export type DeliveryState = 'delivering' | 'retrying' | 'paused' | 'disabled';

/** What one replica's telemetry log and delivery say of one integration. Counts in spans, times in ms since 1970. */
export interface Account extends Totals {
  number: number;
  state: DeliveryState;
  /** When the oldest queued span was accepted. */
  oldestAt: number | null;
  lastSuccessAt: number | null;
  /** Scrubbed: fit to be shown. */
  lastError: string | null;
  nextAttemptAt: number | null;
}

/** Where replicas tell each other their accounts; observability fills it with a table of the database. */
export interface SharedAccounts {
  /** Replaces what `replicaId` said of these integrations before. */
  publish(replicaId: string, accounts: readonly Account[]): Promise<void>;
  /** What was last said of an integration as `replicaId`: by another replica where they share a telemetry log. */
  lastSaid(replicaId: string, number: number): Promise<Account | undefined>;
  /** What the other replicas last said of an integration. `silentMs`: for how long the replica has said nothing. */
  ofOthers(replicaId: string, number: number): Promise<(Account & { silentMs: number })[]>;
}

/** `GET /observability/integrations/{id}/health`: counts in spans, times RFC 3339 or null. */
export interface Health extends Totals {
  state: DeliveryState;
  backlog_age_seconds: number;
  last_success_at: string | null;
  last_error: string | null;
  next_attempt_at: string | null;
}

const sumNames = [...countNames, 'queued', 'backlog_bytes'] as const;
const severity: Record<DeliveryState, number> = { paused: 3, retrying: 2, delivering: 1, disabled: 0 };
const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
const publishEveryMs = 1_000;
/** A replica says something of each integration this often, so that one that is gone can be told from an idle one. */
const repeatEveryMs = 60_000;
/** What a replica said of its delivery holds no longer than this; what it counted holds for ever. */
const believedMs = 3 * repeatEveryMs;
/** What the last word may take when the process stops. */
const lastWordMs = 2_000;

/**
 * The health of an integration over all replicas. `own` first: it is the freshest. The worst state of those that
 * are alive counts, and its error is shown; whether it is disabled is the setting's and so `own`'s to say.
 */
export const healthOf = (
  own: Account,
  others: readonly (Account & { silentMs: number })[],
  now: number,
): Health => {
  const all = [own, ...others];
  const live = [own, ...others.filter(({ silentMs }) => silentMs < believedMs)].sort(
    (a, b) => severity[b.state] - severity[a.state],
  );
  const totals = Object.fromEntries(
    sumNames.map((name) => [name, all.reduce((sum, one) => sum + one[name], 0)]),
  ) as unknown as Totals;
  const times = (of: (one: Account) => number | null, from: readonly Account[]): number[] =>
    from.map(of).filter((time) => time !== null);
  const oldest = Math.min(...times((one) => one.oldestAt, all));
  const success = Math.max(...times((one) => one.lastSuccessAt, all));
  const attempt = Math.min(...times((one) => one.nextAttemptAt, live));
  const disabled = own.state === 'disabled';
  return {
    state: disabled ? 'disabled' : live[0]!.state,
    ...totals,
    backlog_age_seconds: Number.isFinite(oldest) ? Math.max(0, Math.round((now - oldest) / 1000)) : 0,
    last_success_at: Number.isFinite(success) ? iso(success) : null,
    last_error: live.find(({ lastError }) => lastError !== null)?.lastError ?? null,
    next_attempt_at: disabled || !Number.isFinite(attempt) ? null : iso(attempt),
  };
};

/** The id of the replica that this telemetry folder belongs to: made at the first start, kept in the folder. */
export const replicaIdIn = async (directory: string): Promise<string> => {
  const path = join(directory, 'replica-id');
  const known = await readFile(path, 'utf8').catch(() => '');
  if (isId(known.trim())) return known.trim();
  const id = newId();
  await writeFile(`${path}.new`, `${id}\n`, { flush: true });
  await rename(`${path}.new`, path);
  return id;
};

interface PublisherParts {
  replicaId: string;
  accounts: () => Promise<Account[]>;
  shared: SharedAccounts;
  clock: Clock;
  log: Logger;
}

/** Tells the other replicas this one's accounts: at the start, about every second what has changed, and at the end. */
export class AccountPublisher {
  readonly #parts: PublisherParts;
  readonly #said = new Map<number, { text: string; at: number }>();
  readonly #loop: Loop;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
    this.#loop = new Loop({
      name: 'telemetry accounts',
      log: parts.log,
      tick: async () => {
        await this.#publish();
        return publishEveryMs;
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  wake(): void {
    this.#loop.wake();
  }

  /** When nothing changes any more. What cannot be told in time is told at the next start. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await withTimeout(this.#publish(), lastWordMs).catch((error) =>
      this.#parts.log.warn(
        { error: messageOf(error) },
        'the last telemetry accounts are told at the next start',
      ),
    );
  }

  async #publish(): Promise<void> {
    const { replicaId, accounts, shared, clock } = this.#parts;
    const now = clock.now();
    const changed: { account: Account; text: string }[] = [];
    for (const account of await accounts()) {
      const text = JSON.stringify(account);
      const before = this.#said.get(account.number);
      if (before?.text !== text || Math.abs(now - before.at) >= repeatEveryMs)
        changed.push({ account, text });
    }
    if (changed.length === 0) return;
    await shared.publish(
      replicaId,
      changed.map(({ account }) => account),
    );
    for (const { account, text } of changed) this.#said.set(account.number, { text, at: now });
  }
}
