import type { Engine } from '../engines.ts';
import type { Constant } from '../tree.ts';
import type { Type } from '../types.ts';

/**
 * Kind that an argument must have. `count` is a number that is rounded to a whole one; `moment` is a Date, DateTime or
 * DateTimeTz; `clock` may be a Time too.
 */
export type Kind = 'any' | 'number' | 'count' | 'text' | 'boolean' | 'moment' | 'clock';

/** A call as a printer gets it. Its arguments are SQL that can stand anywhere: a name, or in parentheses. */
export interface Call {
  args: string[];
  types: Type[];
  /** The arguments that are constants; null for the others. */
  constants: (Constant | null)[];
  unit: string;
}

/** Returns null if this engine cannot do it with these arguments. */
export type Printer = (call: Call) => string | null;

/** A printer for each engine; null: this engine has no such function, which is refused by name. */
type Printers = Record<Engine, Printer | null>;

export interface Scalar {
  params: Kind[];
  /** Number of the last `params` that may be left out. */
  optional?: number;
  /** Any number of more arguments, of the last kind. */
  variadic?: boolean;
  /** The arguments have one type in common, and text constants are read as that type. */
  unified?: boolean;
  /** Arguments that must be whole numbers written in the SQL, with the least and the most. */
  whole?: Record<number, [least: number, most: number]>;
  /** Arguments that must be text written in the SQL. */
  fixedText?: number[];
  /** Values of `unit`. Without them the function has no `unit`. */
  units?: readonly string[];
  /** Not for users: only trees built by code have it. */
  internal?: true;
  type(types: Type[], unit: string): Type;
  print: Printers;
}

/** Prints the same call on every engine; PostgreSQL's is qualified, so that no schema of the user can replace it. */
export const everywhere = (name: string, others: Partial<Record<Engine, string>> = {}) => {
  const call =
    (called: string) =>
    ({ args }: Call) =>
      `${called}(${args.join(', ')})`;
  return {
    postgres: call(`pg_catalog.${others.postgres ?? name}`),
    mysql: call(others.mysql ?? name),
    sqlite: call(others.sqlite ?? name),
    duckdb: call(others.duckdb ?? name),
  };
};

export const wholeOf = (constant: Constant | null | undefined): number | null =>
  constant?.type === 'Integer' ? Number(constant.value) : null;
