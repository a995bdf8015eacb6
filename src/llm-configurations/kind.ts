import type { z } from 'zod';

/** A wrong setting; `missing` is the message if it is not there at all. */
export interface KindFault {
  path: string;
  message: string;
  missing?: string;
}

type Shape = Record<string, z.ZodType>;

/** Settings of a kind as they are stored: what has its default may be absent. */
type Stored<R extends Shape, O extends Shape> = { [K in keyof R]: z.output<R[K]> } & {
  [K in keyof O]?: z.output<O[K]>;
};

/** A kind of LLM configurations: a protocol that the runtime speaks, with the settings that it needs. */
interface Kind<R extends Shape, O extends Shape, X> {
  /** The name of the body that creates one, in the document. */
  schema: string;
  /** The settings besides those that all kinds have. Those in `secretFields` are never returned. */
  required: R;
  optional: O;
  /** Optional settings that a create stores when it leaves them out. */
  defaults?: { [K in keyof O]?: z.output<O[K]> };
  /** The model of a configuration that names none. */
  model?: string;
  /** The address that requests go to; null if none are sent. */
  baseUrl(settings: Stored<R, O>): string | null;
  /** Returns the settings of the runtime besides the address, headers and limits. */
  resolve(settings: Stored<R, O>): X;
  /** Returns the settings that contradict each other; null if none do. */
  fault?(settings: object): KindFault | null;
}

/** Returns the kind; it only infers the types. */
export const kind = <R extends Shape, O extends Shape, X>(spec: Kind<R, O, X>): Kind<R, O, X> => spec;

/** A kind whose settings are not known here. */
export interface AnyKind extends Omit<Kind<Shape, Shape, object>, 'baseUrl' | 'resolve'> {
  baseUrl(settings: object): string | null;
  resolve(settings: object): object;
}

export type SettingsOfKind<T> = T extends Kind<infer R, infer O, unknown> ? Stored<R, O> : never;
export type ResolvedOfKind<T> = T extends { resolve(settings: never): infer X } ? X : never;
