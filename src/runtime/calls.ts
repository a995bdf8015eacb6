import { cutOf } from './context.ts';
import { endAttempt } from './ending.ts';
import { holdLease } from './lease.ts';
import { madeByLoop } from './made-by-loop.ts';
import { firstUserMessage, fromStored, openCalls, toContent } from './messages.ts';
import { interruptedText } from './tool-plan.ts';

/** The calls that other kinds of run make. Each needs nothing but its arguments. */
export const runtimeCalls = {
  holdLease,
  endAttempt,
  cutOf,
  firstUserMessage,
  fromStored,
  toContent,
  openCalls,
  interruptedText,
  madeByLoop,
};
