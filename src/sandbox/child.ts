import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { childCommand } from './command.ts';
import { type FailureReason, type JobReply, SandboxFailure } from './failure.ts';
import { isLong, type JobName, type Library } from './jobs.ts';

/** Resident memory above which a child is killed, in KiB. */
const maxResidentKib = 1024 * 1024;
/** Interval at which that memory is read, in milliseconds: a child that fills memory at 5 GB/s gets 250 MB further. */
const readMemoryEveryMs = 50;
/** The largest result, in bytes of its JSON. What is larger is written to a file of the folder. */
const maxReplyBytes = 32 * 1024 * 1024;
/** Part of the standard error that is kept, in bytes. It shows whether V8 ran out of memory; it is never logged. */
const maxErrorBytes = 4 * 1024;

/**
 * The resident memory of a process in KiB; null where it cannot be read. `status` has it in KiB, `statm` in pages, whose
 * size differs between machines.
 */
const residentKib = (pid: number): number | null => {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    return null;
  }
};

/**
 * Lets the platform and those who wait for a short answer go first while this process reads a file: another request
 * otherwise waits for a turn of the processor. Each thread has a priority of its own (Linux), and those begun later have
 * that of the one that begins them.
 */
const stepBack = (pid: number): void => {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), 5);
  } catch {
    // It is gone, or there is no /proc.
  }
};

const messages: Partial<Record<FailureReason, string>> = {
  time_limit: 'the time limit was reached',
  memory: 'more memory was needed than is allowed',
  too_large: 'the result is too large',
  died: 'the process ended without a result',
};

const failureFor = (reason: FailureReason) => new SandboxFailure(reason, messages[reason] ?? reason);

/** One process, with a folder of its own (0700) that no one else uses. */
export class Child {
  readonly library: Library;
  readonly folder: string;
  /** When it was started, as `performance.now()`. */
  readonly startedAt = performance.now();
  readonly #process: ChildProcess;
  /** Resolves when the process is gone and its output is read. */
  readonly #closed: Promise<void>;
  #isClosed = false;
  #jobs = 0;
  #isWorking = false;
  #memory: NodeJS.Timeout | undefined;
  #killedFor: FailureReason | null = null;
  #reply: Buffer[] = [];
  #replyBytes = 0;
  #hasReply: () => void = () => {};
  #errors = '';

  private constructor(library: Library, folder: string, program?: string) {
    this.library = library;
    this.folder = folder;
    const [command, args] = childCommand(library, folder, program);
    // A group of its own: Ctrl-C in the terminal reaches the platform, which finishes what is in flight.
    const child = spawn(command, args, { cwd: folder, env: {}, stdio: 'pipe', detached: true });
    this.#process = child;
    this.#closed = new Promise((resolve) => {
      const closed = () => {
        this.#isClosed = true;
        clearInterval(this.#memory);
        resolve();
      };
      child.once('close', closed);
      // The process could not be started: there is no `close` then.
      child.once('error', () => child.pid === undefined && closed());
    });
    // A child that is gone cannot be written to.
    child.stdin.on('error', () => {});
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (this.#errors.length < maxErrorBytes) this.#errors += text.slice(0, maxErrorBytes);
    });
  }

  /** Starts a child that loads `library` and waits for a job. Its folder is made in `parent`. Tests give another `program`. */
  static async start(library: Library, parent: string, program?: string): Promise<Child> {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    // Node's permission model compares absolute paths without links, and the default of DATA_DIR is relative.
    return new Child(library, await realpath(await mkdtemp(join(parent, 'job-'))), program);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Resolves when the process is gone, whatever ended it. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /** Resident memory in KiB. */
  get memoryKib(): number {
    return this.pid === undefined || this.#isClosed ? 0 : (residentKib(this.pid) ?? 0);
  }

  /** The number of its jobs, with the one that it does. */
  get jobs(): number {
    return this.#jobs;
  }

  /**
   * Resolves to the output of the job. Rejects with SandboxFailure, or with the reason of `signal`. The process has
   * been killed then, and is gone at `closed`; the folder remains until `end`. With `stays` it lives on after a job that
   * did not fail, and can do another. Its memory stays limited, and it is killed if it writes what no one asked for.
   */
  async run(
    job: JobName,
    input: unknown,
    timeLimitMs: number,
    signal?: AbortSignal,
    { stays = false } = {},
  ): Promise<unknown> {
    signal?.throwIfAborted();
    this.#jobs++;
    // One that stayed may have been killed, or have ended, since its last job.
    if (this.#killedFor || this.#isClosed) throw failureFor('died');
    this.#reply = [];
    this.#replyBytes = 0;
    this.#isWorking = true;
    const abort = () => this.#kill(null);
    signal?.addEventListener('abort', abort, { once: true });
    const limit = setTimeout(() => this.#kill('time_limit'), timeLimitMs);
    this.#memory ??= setInterval(() => {
      if (this.memoryKib > maxResidentKib) this.#kill('memory');
    }, readMemoryEveryMs);
    if (this.pid !== undefined && isLong(job)) stepBack(this.pid);
    try {
      const replied = new Promise<void>((resolve) => {
        this.#hasReply = resolve;
      });
      // The standard input stays open: when it ends, the child knows that the platform is gone.
      this.#process.stdin?.write(`${JSON.stringify({ job, input })}\n`);
      await Promise.race([replied, this.#closed]);
      signal?.throwIfAborted();
      const output = this.#result();
      this.#isWorking = false;
      if (!stays) this.#kill(null);
      return output;
    } catch (error) {
      this.#kill(null);
      throw error;
    } finally {
      clearTimeout(limit);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Ends the process and removes its folder. */
  async end(): Promise<void> {
    this.#kill(null);
    await this.#closed;
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #kill(reason: FailureReason | null): void {
    if (this.#isClosed) return;
    clearInterval(this.#memory);
    this.#killedFor ??= reason;
    this.#process.kill('SIGKILL');
  }

  #read(chunk: Buffer): void {
    this.#replyBytes += chunk.length;
    if (!this.#isWorking) this.#kill('died');
    else if (this.#replyBytes > maxReplyBytes) {
      this.#reply = [];
      this.#kill('too_large');
    } else {
      this.#reply.push(chunk);
      if (chunk.at(-1) === 0x0a) this.#hasReply();
    }
  }

  #result(): unknown {
    if (this.#killedFor) throw failureFor(this.#killedFor);
    let reply: JobReply;
    try {
      reply = JSON.parse(Buffer.concat(this.#reply).toString('utf8'));
    } catch {
      throw failureFor(/heap out of memory|Reached heap limit/.test(this.#errors) ? 'memory' : 'died');
    }
    if ('output' in reply) return reply.output;
    const { reason, message, details } = reply.failure;
    throw new SandboxFailure(reason, message, details);
  }
}
