import vm from 'node:vm';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { isObject } from './objects.ts';

/** Returns what is wrong with a value, for its sender; null if nothing is. */
export type SchemaCheck = (value: unknown) => string | null;

/** How much processor time compiling a schema, and one check by it, may take, in milliseconds. */
const compileWithinMs = 250;
const checkWithinMs = 50;

/** The limits of `vm` are of time that passes. On a machine with other work a run is repeated at most this often. */
const maxRuns = 10;

/** At most this many faults of a value are named. */
const shownFaults = 5;

const sandbox = vm.createContext({ run: null as (() => void) | null });
const script = new vm.Script('run()');

/**
 * Runs `fn`, which has no effects, for at most `milliseconds` of processor time, then throws. It stops a regular
 * expression in the middle of its backtracking as well, because V8 interrupts everything on the stack.
 */
const withinTime = <T>(milliseconds: number, fn: () => T): T => {
  for (let run = 1; ; run++) {
    let result: T;
    sandbox.run = () => {
      result = fn();
    };
    const before = process.threadCpuUsage();
    try {
      script.runInContext(sandbox, { timeout: milliseconds });
      return result!;
    } catch (error) {
      const { user, system } = process.threadCpuUsage(before);
      const interrupted = (error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      const usedUp = (user + system) / 1_000 >= milliseconds / 2;
      if (!interrupted || usedUp || run === maxRuns) throw error;
    } finally {
      sandbox.run = null;
    }
  }
};

/** The check by a schema that cannot be used. */
const objectCheck: SchemaCheck = (value) => (isObject(value) ? null : 'must be an object');

const shown = ({ instancePath, message, params }: ErrorObject): string => {
  const { additionalProperty } = params as { additionalProperty?: string };
  const where = instancePath === '' ? '' : `${instancePath.slice(1).replaceAll('/', '.')} `;
  return `${where}${message}${additionalProperty === undefined ? '' : ` (${additionalProperty})`}`;
};

/**
 * Compiles a JSON Schema (2020-12) of someone who is not trusted. `format` is an annotation. Nothing is fetched. Throws
 * an error that says why if the schema cannot be compiled in time: it is wrong, or refers to another document. A check
 * that takes too long, because of a pattern or of references that multiply, counts as passed, and so does every later
 * one by this schema, so that they do not block the process again.
 */
export const compileSchema = (schema: object | boolean): SchemaCheck => {
  // One instance for each schema: an `$id` in one must not resolve a reference in another.
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    addUsedSchema: false,
    meta: false,
    inlineRefs: false,
    allErrors: false,
    ownProperties: true,
    logger: false,
  });
  const validate = withinTime(compileWithinMs, () => ajv.compile(schema));
  let usable = true;
  return (value) => {
    if (!usable) return null;
    try {
      if (withinTime(checkWithinMs, () => validate(value))) return null;
    } catch {
      usable = false;
      return null;
    }
    const faults = (validate.errors ?? []).slice(0, shownFaults).map(shown);
    return faults.length > 0 ? faults.join('; ') : 'does not match the schema';
  };
};

/** Like `compileSchema`, for arguments: an object is always required, and nothing else if the schema cannot be used. */
export const compileArgumentCheck = (schema: Record<string, unknown>): SchemaCheck => {
  try {
    const check = compileSchema(schema);
    return (value) => objectCheck(value) ?? check(value);
  } catch {
    return objectCheck;
  }
};
