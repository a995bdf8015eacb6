import { audit } from '../../audit/index.ts';
import { type Database, sql, type Tx } from '../../database/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Actor } from '../../lib/principal.ts';

/** The interval in milliseconds at which a replica checks whether the hour is over. Uses in between cost nothing. */
const checkEveryMs = 60_000;
/** After how many milliseconds it tries again when the database does not respond: this key still sends traces then. */
const retryAfterMs = 5_000;

/** Claims the entry of this hour: true for one caller in an hour, over all replicas. */
const claimHour = async (tx: Tx): Promise<boolean> => {
  const { rows } = await sql`insert into bootstrap_uses (used_at) values (platform_now())
    on conflict (singleton) do update set used_at = excluded.used_at
    where bootstrap_uses.used_at <= excluded.used_at - interval '1 hour' returning 1`.execute(tx);
  return rows.length > 0;
};

/**
 * Audits the bootstrap key, the way in when no one can sign in: its first use in an hour is an entry and a warning in
 * the log.
 */
export class BootstrapUses {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #clock: Clock;
  /** The times in between which nothing is looked up: a clock that is set back is outside them. */
  #checked = { from: 0, until: 0 };

  constructor(db: Database, log: Logger, clock: Clock) {
    this.#db = db;
    this.#log = log;
    this.#clock = clock;
  }

  /** Notes that the bootstrap key was used. Returns at once and never throws: the entry is written afterwards. */
  note(actor: Actor): void {
    const now = this.#clock.now();
    if (now >= this.#checked.from && now < this.#checked.until) return;
    this.#checked = { from: now, until: now + checkEveryMs };
    this.#write(actor).catch((error) => {
      this.#checked = { from: now, until: this.#clock.now() + retryAfterMs };
      this.#log.error({ error: messageOf(error) }, 'the use of the bootstrap key was not audited');
    });
  }

  async #write(actor: Actor): Promise<void> {
    const first = await this.#db.tx(async (tx) => {
      const claimed = await claimHour(tx);
      if (claimed) await audit(tx, actor, 'bootstrap.use', actor.principal.id);
      return claimed;
    });
    if (first) this.#log.warn({ ip: actor.ip }, 'BOOTSTRAP_ADMIN_API_KEY is in use');
  }
}
