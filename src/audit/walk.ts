import type { Vault } from '../lib/crypto.ts';
import { genesis, hashOf } from './chain.ts';
import type { CheckpointRow } from './checkpoint-store.ts';
import { checkpointInterval, isSigned } from './checkpoints.ts';
import type { AuditRow } from './store.ts';

/** The position at which a walk goes on: after an entry that was found right. */
export interface Resume {
  position: number;
  hash: string;
  /** The number of the last checkpoint up to there, and how many entries follow it that need one. */
  number: number;
  uncovered: number;
}

const contextOf = ({ details }: AuditRow): unknown => (details as { context?: unknown }).context;

/** Recomputes the chain from its start, entry by entry, and compares it with the checkpoints. */
export class Walk {
  readonly #vault: Vault;
  position = 0;
  hash = genesis;
  checked = 0;
  checkpointsChecked = 0;
  /** The fault, for the log; null if there is none. */
  fault: string | null = null;
  brokenAt: number | null = null;
  /** The number of the last checkpoint, and how many entries follow it that need one. */
  #number = 0;
  #uncovered = 0;

  /** `start`: the checkpoint at the last entry that retention removed. */
  constructor(vault: Vault, start: CheckpointRow | undefined) {
    this.#vault = vault;
    if (!start) return;
    this.position = start.position;
    this.hash = start.hash;
    this.#number = start.number;
    this.#checkSignature(start);
  }

  /** Takes the next entries and the checkpoints up to the last of them. Stops at the first entry that is wrong. */
  take(rows: readonly AuditRow[], checkpoints: readonly CheckpointRow[]): void {
    let next = 0;
    for (const row of rows) {
      const position = this.position + 1;
      const hash = hashOf(this.hash, position, row);
      if (row.position !== position || row.hash !== hash) {
        this.fail(`the entry at position ${position} was changed or is missing`, position);
        return;
      }
      this.position = position;
      this.hash = hash;
      this.checked++;
      this.#cover(row);
      for (; checkpoints[next]?.position === position; next++) this.#check(checkpoints[next]!);
      if (this.brokenAt !== null) return;
    }
  }

  /** A walk that goes on after `position`. */
  static from(vault: Vault, { position, hash, number, uncovered }: Resume): Walk {
    const walk = new Walk(vault, undefined);
    walk.position = position;
    walk.hash = hash;
    walk.#number = number;
    walk.#uncovered = uncovered;
    return walk;
  }

  fail(fault: string, brokenAt: number | null = null): void {
    this.fault ??= fault;
    this.brokenAt ??= brokenAt;
  }

  /** Releases without checkpoints wrote entries without a context: only before the first checkpoint may those be many. */
  #cover(row: AuditRow): void {
    if (this.#number > 0 || contextOf(row) !== undefined) this.#uncovered++;
    if (this.#uncovered > checkpointInterval) {
      this.fail(`more than ${checkpointInterval} entries up to position ${this.position} have no checkpoint`);
    }
  }

  #check(checkpoint: CheckpointRow): void {
    const { number, position, hash } = checkpoint;
    if (number !== this.#number + 1) {
      this.fail(`checkpoint ${this.#number + 1} is missing; the next one has the number ${number}`);
    }
    this.#number = number;
    this.#uncovered = 0;
    if (this.#checkSignature(checkpoint) && hash !== this.hash) {
      this.fail(`entries up to position ${position} are not those of checkpoint ${number}`, position);
    }
  }

  #checkSignature(checkpoint: CheckpointRow): boolean {
    const genuine = isSigned(this.#vault, checkpoint);
    if (genuine) this.checkpointsChecked++;
    else {
      this.fail(
        `the checkpoint at position ${checkpoint.position} has a wrong signature, or its key ${checkpoint.key_id} is not in ENCRYPTION_KEY`,
      );
    }
    return genuine;
  }
}
