import {
  type CelValue,
  celEnv,
  isCelError,
  isCelList,
  isCelMap,
  isCelType,
  isCelUint,
  parse,
  plan,
} from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { LRUCache } from 'lru-cache';
import { isObject } from '../../lib/objects.ts';
import type { TriggerEvent } from '../event.ts';

/** A fault of an expression. `column` counts from 1, in its line. */
export interface ExpressionProblem {
  message: string;
  column: number;
}

/** An expression that is known to be valid. */
export interface Expression {
  /**
   * Returns the value as JSON. `missing` is the field that is not there; another error has its message. It may take
   * any time, and is stopped from outside.
   */
  evaluate(event: TriggerEvent): { value: unknown } | { missing: string } | { error: string };
  /** The fields of `event` that it names; null if it uses the event as a whole, or by a computed name. */
  fields: ReadonlySet<string> | null;
}

const env = celEnv({ funcs: strings });

/** Names of types are values, for comparisons with `type(x)`. */
const typeNames = new Set([
  'bool',
  'bytes',
  'double',
  'dyn',
  'int',
  'list',
  'map',
  'null_type',
  'string',
  'type',
  'uint',
]);

type Parsed = ReturnType<typeof parse>;
type Node = NonNullable<Parsed['expr']>;

/** The path of names in `a.b.c`; null for anything else. */
const dotted = (node: Node | undefined): string | null => {
  const kind = node?.exprKind;
  if (kind?.case === 'identExpr') return kind.value.name;
  if (kind?.case !== 'selectExpr' || kind.value.testOnly) return null;
  const before = dotted(kind.value.operand);
  return before === null ? null : `${before}.${kind.value.field}`;
};

/** Walks an expression: finds names that do not exist, and what it uses of the event. */
class Walk {
  readonly problems: { id: bigint; message: string }[] = [];
  readonly fields = new Set<string>();
  whole = false;

  #unknown(id: bigint, message: string): void {
    this.problems.push({ id, message });
  }

  #ident(id: bigint, given: string, bound: ReadonlySet<string>): void {
    const name = given.replace(/^\./, '');
    if (bound.has(name)) return;
    if (name === 'event') this.whole = true;
    else if (!typeNames.has(name))
      this.#unknown(id, `There is no variable ${name}. The event is in the variable event.`);
  }

  /** Notes `event.field`; returns false if the operand is not the event. */
  #eventField(operand: Node | undefined, field: string | null, bound: ReadonlySet<string>): boolean {
    if (operand?.exprKind.case !== 'identExpr' || field === null) return false;
    const name = operand.exprKind.value.name.replace(/^\./, '');
    if (name !== 'event' || bound.has(name)) return false;
    this.fields.add(field);
    return true;
  }

  visit(node: Node | undefined, bound: ReadonlySet<string>): void {
    if (!node) return;
    const { id, exprKind: kind } = node;
    const all = (nodes: readonly (Node | undefined)[]) => {
      for (const one of nodes) this.visit(one, bound);
    };
    switch (kind.case) {
      case 'identExpr':
        this.#ident(id, kind.value.name, bound);
        return;
      case 'selectExpr': {
        if (this.#eventField(kind.value.operand, kind.value.field, bound)) return;
        // The name of a message type, such as google.protobuf.Timestamp.
        const path = dotted(node)?.replace(/^\./, '');
        if (path?.startsWith('google.') && env.registry.get(path)) return;
        this.visit(kind.value.operand, bound);
        return;
      }
      case 'callExpr': {
        const { function: name, target, args } = kind.value;
        const [left, right] = args;
        if (name === '_[_]' && right?.exprKind.case === 'constExpr') {
          const key = right.exprKind.value.constantKind;
          if (this.#eventField(left, key.case === 'stringValue' ? key.value : null, bound)) return;
        }
        const path = dotted(target);
        const qualified = path === null ? null : `${path}.${name}`;
        if (qualified !== null && env.funcs.find(qualified)) {
          all(args);
          return;
        }
        // Operators have names that no one can write, and some of them are no functions.
        if (/^\w+$/.test(name) && !env.funcs.find(name)) {
          this.#unknown(id, `There is no function ${name}.`);
          return;
        }
        this.visit(target, bound);
        all(args);
        return;
      }
      case 'listExpr':
        all(kind.value.elements);
        return;
      case 'structExpr':
        for (const { keyKind, value } of kind.value.entries) {
          if (keyKind.case === 'mapKey') this.visit(keyKind.value, bound);
          this.visit(value, bound);
        }
        return;
      case 'comprehensionExpr': {
        const { iterRange, accuInit, iterVar, iterVar2, accuVar, loopCondition, loopStep, result } =
          kind.value;
        all([iterRange, accuInit]);
        const inside = new Set([...bound, iterVar, iterVar2, accuVar].filter((name) => name !== ''));
        for (const one of [loopCondition, loopStep]) this.visit(one, inside);
        this.visit(result, new Set([...bound, accuVar]));
        return;
      }
      default:
        return;
    }
  }
}

/** The column of an offset in its line, from 1. */
export const columnAt = (text: string, offset: number): number => offset - text.lastIndexOf('\n', offset - 1);

const tooDeep = 'The expression nests too deep.';

/** The parser's list of all that could stand there helps no one. */
const syntaxMessage = (error: unknown): string => {
  if (error instanceof RangeError) return tooDeep;
  const found = /found (.+?) but expecting/s.exec((error as Error).message)?.[1];
  return found === undefined || found === 'end of input'
    ? 'The expression ends too early.'
    : `The expression cannot be read at ${found}.`;
};

const compile = (text: string): Expression | ExpressionProblem => {
  let parsed: Parsed;
  try {
    parsed = parse(text);
  } catch (error) {
    const location = (error as { location?: { start: { offset: number } } }).location;
    return { message: syntaxMessage(error), column: columnAt(text, location?.start.offset ?? 0) };
  }
  const walk = new Walk();
  try {
    walk.visit(parsed.expr, new Set());
  } catch (error) {
    if (error instanceof RangeError) return { message: tooDeep, column: 1 };
    throw error;
  }
  const [problem] = walk.problems;
  if (problem) {
    const offset = parsed.sourceInfo?.positions[String(problem.id)] ?? 0;
    // The place of a method is its dot.
    return { message: problem.message, column: columnAt(text, text[offset] === '.' ? offset + 1 : offset) };
  }
  let run: ReturnType<typeof plan>;
  try {
    run = plan(env, parsed);
  } catch (error) {
    return { message: `The expression cannot be used: ${(error as Error).message}.`, column: 1 };
  }
  return {
    fields: walk.whole ? null : walk.fields,
    evaluate(event) {
      const result = run({ event: event as never });
      if (!isCelError(result)) return jsonOf(result);
      const missing = /^field not found: (.*)$/s.exec(result.message)?.[1];
      return missing === undefined ? { error: result.message } : { missing };
    },
  };
};

const compiled = new LRUCache<string, Expression | ExpressionProblem>({
  max: 2_000,
  maxSize: 4_000_000,
  sizeCalculation: (_, text) => text.length + 1,
});

/** Parses and checks an expression of the Common Expression Language, or returns its first fault. */
export const compileExpression = (text: string): Expression | ExpressionProblem => {
  const known = compiled.get(text);
  if (known) return known;
  const made = compile(text);
  compiled.set(text, made);
  return made;
};

const integer = (value: bigint): number | string => {
  const number = Number(value);
  return BigInt(number) === value && Math.abs(number) <= 2 ** 53 ? number : value.toString();
};

const float = (value: number): number | string => (Number.isFinite(value) ? value : String(value));

/** Seconds and nanoseconds of a protobuf Duration, as its JSON has them: `3.5s`. */
const durationText = (seconds: bigint, nanos: number): string => {
  const sign = seconds < 0n || nanos < 0 ? '-' : '';
  const fraction = nanos === 0 ? '' : `.${String(Math.abs(nanos)).padStart(9, '0').replace(/0+$/, '')}`;
  return `${sign}${String(seconds < 0n ? -seconds : seconds)}${fraction}s`;
};

const timestampText = (seconds: bigint, nanos: number): string => {
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${text}${nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`}Z`;
};

const toJson = (value: CelValue): unknown => {
  if (typeof value === 'bigint') return integer(value);
  if (typeof value === 'number') return float(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (isCelUint(value)) return integer(value.value);
  if (isCelList(value)) return Array.from(value, toJson);
  if (isCelMap(value)) {
    return Object.fromEntries(
      Array.from(value.entries(), ([key, item]) => [String(isCelUint(key) ? key.value : key), toJson(item)]),
    );
  }
  if (isCelType(value)) return value.name;
  const { message } = value as { message?: unknown };
  if (!isObject(message)) return null;
  const { $typeName, seconds, nanos } = message as { $typeName: string; seconds: bigint; nanos: number };
  if ($typeName === 'google.protobuf.Timestamp') return timestampText(seconds, nanos);
  if ($typeName === 'google.protobuf.Duration') return durationText(seconds, nanos);
  return null;
};

/** The value as JSON. A list of thousands that `map` made is too deep for the library's own walk of it. */
const jsonOf = (value: CelValue): { value: unknown } | { error: string } => {
  try {
    return { value: toJson(value) };
  } catch (error) {
    return { error: error instanceof RangeError ? 'the result is too large' : (error as Error).message };
  }
};
