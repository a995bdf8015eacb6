import { AsyncLocalStorage } from 'node:async_hooks';

/** Facts that the transport finds out about one `tools/call` and that the client library does not tell its caller. */
export interface CallTrace {
  /** The depth of the run that makes the call (`Agent-Platform-Depth`). */
  depth: number;
  /** True if any of it may have reached the server. */
  sent: boolean;
  /** The call has ended, with an answer or without. */
  settled: boolean;
  /** Ends the call: no answer can come any more. */
  lose(): void;
  /** Aborted when the call is lost, and when it has ended. */
  over: AbortSignal;
}

const calls = new AsyncLocalStorage<CallTrace>();

/** Runs `fn` so that the transport below it finds `trace`. */
export const withCallTrace = <T>(trace: CallTrace, fn: () => T): T => calls.run(trace, fn);

/** The trace of the call in whose context this runs, if it has not ended. */
export const currentCall = (): CallTrace | undefined => {
  const trace = calls.getStore();
  return trace?.settled ? undefined : trace;
};
