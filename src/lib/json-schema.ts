import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { linearRegExp } from './linear-regexp.ts';
import { isObject } from './objects.ts';
import { isTimeout, withinTime } from './time-limit.ts';

/** Returns what is wrong with a value, for its sender; null if nothing is. */
export type SchemaCheck = (value: unknown) => string | null;

/** The limits, in milliseconds, of the processor time that compiling a schema, and one check by it, may take. */
const compileWithinMs = 250;
const checkWithinMs = 50;

/** At most this many faults of a value are named. */
const shownFaults = 5;

/** The check by a schema that is wrong. */
const objectCheck: SchemaCheck = (value) => (isObject(value) ? null : 'must be an object');

const shown = ({ instancePath, message, params }: ErrorObject): string => {
  const { additionalProperty } = params as { additionalProperty?: string };
  const where = instancePath === '' ? '' : `${instancePath.slice(1).replaceAll('/', '.')} `;
  return `${where}${message}${additionalProperty === undefined ? '' : ` (${additionalProperty})`}`;
};

type Validate = ((value: unknown) => boolean) & { errors?: ErrorObject[] | null };

/** Compiles a schema. With `linear`, patterns take linear time wherever there is such a regular expression. */
const compile = (schema: object | boolean, linear: boolean): Validate => {
  const regExp = (pattern: string, flags: string) => {
    const own = new RegExp(pattern, flags);
    return linear ? (linearRegExp(pattern) ?? own) : own;
  };
  regExp.code = '';
  // One instance for each schema: an `$id` in one must not resolve a reference in another. And one for each run: what an
  // interrupted run left behind would be taken for a defect.
  const newAjv = () =>
    new Ajv2020({
      strict: false,
      validateFormats: false,
      validateSchema: false,
      addUsedSchema: false,
      meta: false,
      inlineRefs: false,
      allErrors: false,
      ownProperties: true,
      logger: false,
      code: { regExp },
    });
  return withinTime(compileWithinMs, () => newAjv().compile(schema)) as Validate;
};

/** Called when a value could not be checked in time. `subject` is what the schema is of. */
type UncheckedListener = (subject: string) => void;
const listeners = new Set<UncheckedListener>();

/** Calls `listener` for each value of this process that could not be checked in time. Returns what ends that. */
export const onUncheckedValue = (listener: UncheckedListener): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

const refuse = (subject: string, message: string): string => {
  for (const listener of listeners) listener(subject);
  return message;
};

const uncheckedFault =
  'cannot be checked in time: the JSON Schema has a pattern or references that take too long for this value. Use a shorter or simpler value';

/**
 * Compiles a JSON Schema (2020-12) of someone who is not trusted. `format` is an annotation. Nothing is fetched. Throws
 * an error that says why if the schema cannot be compiled in time: it is wrong, or refers to another document. A check
 * that takes too long is made once more with patterns that take linear time. If that takes too long as well, because of
 * a look-ahead or of references that multiply, the value is refused: no value turns the check off, for itself or for the
 * next. A check blocks the process for 0.1 s of processor time at most.
 */
export const compileSchema = (schema: object | boolean, subject = 'a value'): SchemaCheck => {
  const validate = compile(schema, false);
  /** Compiled when it is needed first. Dropped when it was interrupted: what it keeps may be half written. */
  let linear: Validate | undefined;
  const faultsBy = (by: Validate, value: unknown): string | null => {
    if (withinTime(checkWithinMs, () => by(value))) return null;
    const faults = (by.errors ?? []).slice(0, shownFaults).map(shown);
    return faults.length > 0 ? faults.join('; ') : 'does not match the schema';
  };
  return (value) => {
    try {
      return faultsBy(validate, value);
    } catch {
      try {
        linear ??= compile(schema, true);
        return faultsBy(linear, value);
      } catch {
        linear = undefined;
        return refuse(subject, uncheckedFault);
      }
    }
  };
};

/**
 * Like `compileSchema`, for arguments: an object is always required, and nothing else if the schema is wrong. One that takes
 * too long to compile accepts nothing.
 */
export const compileArgumentCheck = (schema: Record<string, unknown>, subject = 'arguments'): SchemaCheck => {
  try {
    const check = compileSchema(schema, subject);
    return (value) => objectCheck(value) ?? check(value);
  } catch (error) {
    if (!isTimeout(error)) return objectCheck;
    return () => refuse(subject, 'cannot be checked: its JSON Schema takes too long to compile');
  }
};
