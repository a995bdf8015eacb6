import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Mutex } from '../../semaphore.ts';
import { type Counts, countNames, zeroCounts } from '../counts.ts';
import { synced } from './segments.ts';

/** The position of an integration: its span is the sum of its counts, and `at` is the offset from which to read. */
export interface CursorState extends Counts {
  at: number;
  removed: boolean;
}

const magic = 0x52435041;
const slotLength = 88;
/** Each slot in a page of its own: a torn write of one cannot touch the other. */
const slotDistance = 4096;

/**
 * The cursor of one integration in a file with two slots that are written alternately, so that a crash in the middle of
 * a write leaves the other. The file has its full size from the start, so moving the cursor needs no disk space.
 */
export class CursorFile {
  readonly number: number;
  state: CursorState;
  #file: FileHandle;
  #sequence: number;
  readonly #mutex = new Mutex();

  private constructor(number: number, file: FileHandle, sequence: number, state: CursorState) {
    this.number = number;
    this.#file = file;
    this.#sequence = sequence;
    this.state = state;
  }

  static async open(path: string, number: number): Promise<CursorFile> {
    let file: FileHandle;
    try {
      file = await open(path, synced);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT') throw error;
      file = await open(path, synced | constants.O_CREAT);
    }
    try {
      const bytes = Buffer.alloc(2 * slotDistance);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      const found = [0, 1]
        .map((slot) => decode(bytes.subarray(slot * slotDistance, slot * slotDistance + slotLength)))
        .filter((one) => one !== null)
        .sort((a, b) => b.sequence - a.sequence)[0];
      if (bytesRead < bytes.length) {
        await file.write(Buffer.alloc(bytes.length - bytesRead), 0, bytes.length - bytesRead, bytesRead);
      }
      return new CursorFile(number, file, found?.sequence ?? 0, found?.state ?? beginning());
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /**
   * One step of the cursor, after all earlier ones: `next` gets the present state and returns the new one, or
   * null to leave it. Resolves to whether the cursor moved, when that is durable.
   */
  update(next: (state: CursorState) => CursorState | null): Promise<boolean> {
    return this.#mutex.run(async () => {
      const state = next(this.state);
      if (state === null) return false;
      const sequence = this.#sequence + 1;
      await this.#file.write(encode(sequence, state), 0, slotLength, (sequence % 2) * slotDistance);
      this.#sequence = sequence;
      this.state = state;
      return true;
    });
  }

  async close(): Promise<void> {
    await this.#mutex.run(() => this.#file.close());
  }
}

const beginning = (): CursorState => ({ at: 0, removed: false, ...zeroCounts() });

const encode = (sequence: number, state: CursorState): Buffer => {
  const slot = Buffer.alloc(slotLength);
  slot.writeUInt32LE(magic, 0);
  slot.writeUInt32LE(state.removed ? 1 : 0, 4);
  slot.writeDoubleLE(sequence, 8);
  slot.writeDoubleLE(state.at, 16);
  countNames.forEach((name, i) => {
    slot.writeDoubleLE(state[name], 24 + i * 8);
  });
  slot.writeUInt32LE(crc32(slot.subarray(0, slotLength - 4)), slotLength - 4);
  return slot;
};

const decode = (slot: Buffer): { sequence: number; state: CursorState } | null => {
  if (slot.readUInt32LE(0) !== magic) return null;
  if (crc32(slot.subarray(0, slotLength - 4)) !== slot.readUInt32LE(slotLength - 4)) return null;
  const state = { ...beginning(), at: slot.readDoubleLE(16), removed: slot.readUInt32LE(4) === 1 };
  countNames.forEach((name, i) => {
    state[name] = slot.readDoubleLE(24 + i * 8);
  });
  return { sequence: slot.readDoubleLE(8), state };
};
