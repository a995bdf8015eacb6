import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { messageOf } from '../../lib/errors.ts';
import type { StdioSettings } from '../settings.ts';
import { currentCall } from './call-trace.ts';
import { ProcessFailure } from './failures.ts';

/** The largest message of a process, in bytes. */
const maxMessageBytes = 16 * 1024 * 1024;
/** Limit of the output on stderr of a process that is logged, in bytes. */
const maxLoggedBytes = 64 * 1024;
/** Time that a process may take to end by itself, and then after SIGTERM, in milliseconds. */
const endWithinMs = 500;
const terminateWithinMs = 1_500;
/** Time that the last output of a process that has ended may take, in milliseconds. */
const lastOutputWithinMs = 250;

export interface StdioOptions {
  settings: StdioSettings;
  /** Folder in which the temporary folder of the process is made. */
  folder: string;
  /** PATH. */
  path: string;
  /** Gets what the process writes to stderr. */
  log: (text: string) => void;
}

/** Sends a signal to the whole group; false if it is gone. */
const signalGroup = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
};

/**
 * A tool server as a local process, which speaks over stdin and stdout. Unlike the transport of the client library it
 * gets no variables but PATH, HOME and its own, and its whole process group ends with it.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Mark of a transport to a local process: the client recognizes it by this field and `pid`. */
  readonly stderr = null;
  readonly #options: StdioOptions;
  readonly #buffer = new ReadBuffer({ maxBufferSize: maxMessageBytes });
  #child: ChildProcessWithoutNullStreams | null = null;
  #home: string | null = null;
  #exited: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;
  #logged = 0;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  async start(): Promise<void> {
    const { settings, folder, path } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    this.#home = await mkdtemp(join(folder, 'home-'));
    const child = spawn(settings.command, settings.args, {
      cwd: settings.cwd ?? this.#home,
      env: { PATH: path, HOME: this.#home, ...settings.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own, so that what it starts can be ended with it.
      detached: true,
      shell: false,
    });
    try {
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', (error: NodeJS.ErrnoException) =>
          reject(new ProcessFailure(`The command could not be started (${error.code ?? 'unknown'}).`)),
        );
      });
    } catch (error) {
      await rm(this.#home, { recursive: true, force: true });
      throw error;
    }
    this.#child = child;
    this.#listen(child);
    if (this.#closing) {
      this.#closing = this.#end();
      throw new ProcessFailure('The process of the tool server was ended.');
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (!child || this.#closing) throw new ProcessFailure('The process of the tool server has ended.');
    const trace = currentCall();
    if (trace && 'method' in message && message.method === 'tools/call') trace.sent = true;
    if (child.stdin.write(serializeMessage(message))) return;
    await Promise.race([new Promise<void>((resolve) => child.stdin.once('drain', resolve)), this.#exited]);
  }

  /** Ends the process and everything that it started. Resolves when they are gone. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  #listen(child: ChildProcessWithoutNullStreams): void {
    child.on('error', (error) => this.onerror?.(error));
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      const room = maxLoggedBytes - this.#logged;
      if (room <= 0) return;
      this.#logged += chunk.length;
      this.#options.log(chunk.subarray(0, room).toString('utf8'));
    });
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => {
        // Children of the process may hold its output open, so `close` may never come.
        signalGroup(child.pid!, 'SIGKILL');
        const timer = setTimeout(resolve, lastOutputWithinMs);
        child.once('close', () => {
          clearTimeout(timer);
          resolve();
        });
      });
    });
    void this.#exited.then(() => {
      child.stdout.destroy();
      child.stderr.destroy();
      void this.close();
      this.onclose?.();
    });
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      this.onerror?.(error as Error);
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // A line that is no message: servers print banners.
        this.onerror?.(new Error(messageOf(error)));
      }
    }
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined) {
      const { pid } = child;
      child.stdin.end();
      const after = (ms: number, signal: NodeJS.Signals) => setTimeout(() => signalGroup(pid, signal), ms);
      const timers = [after(endWithinMs, 'SIGTERM'), after(endWithinMs + terminateWithinMs, 'SIGKILL')];
      await this.#exited;
      for (const timer of timers) clearTimeout(timer);
      signalGroup(pid, 'SIGKILL');
    }
    if (this.#home !== null) await rm(this.#home, { recursive: true, force: true, maxRetries: 3 });
  }
}
