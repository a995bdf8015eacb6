import { z } from 'zod';
import type { Agent } from '../agents/index.ts';
import { optional } from '../http/index.ts';
import type { Actor, Scope } from '../lib/principal.ts';
import type { Era } from './handler.ts';

/** Caller of a tool, and the circumstances of the call. */
export interface ToolCall {
  agent: Agent;
  actor: Actor;
  era: Era;
  /** Number of agents that called each other before this call; 0: none. */
  depth: number;
  /** Aborted when waiting makes no sense: the client left, or the server stops. */
  signal: AbortSignal;
  /** Aborted when the client leaves before the response. */
  left: AbortSignal;
}

interface ToolSpec<I extends z.ZodType, O extends z.ZodType> {
  name: string;
  title: string;
  description: string;
  /** Scope that a key with scopes must have, as for the same operation of the API. */
  scope: Scope;
  /** Hints of the protocol for people and clients. */
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
  input: I;
  output: O;
  /** Throws the ApiError that the API would send. */
  run: (call: ToolCall, args: z.output<I>) => Promise<z.input<O>>;
}

/** A tool as a value in a list, without its own types. */
export type Tool = ToolSpec<z.ZodType, z.ZodType>;

/** Returns `spec`, a plain object; it only infers the types. */
export const tool = <I extends z.ZodType, O extends z.ZodType>(spec: ToolSpec<I, O>): Tool =>
  spec as unknown as Tool;

/** Returns the time that a tool waits, in seconds. */
export const waitSeconds = (fallback: number) =>
  optional(z.int().min(0).max(600), fallback).describe(
    'How many seconds to wait for the end. The response comes earlier if the end does.',
  );
