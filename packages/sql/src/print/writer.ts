import { type Engine, engineNames } from '../engines.ts';
import { typeNames } from '../functions/casts.ts';
import { uniqueName } from '../names.ts';
import { notSupported } from '../refusal.ts';
import type { Range } from '../resolved.ts';
import type { Constant } from '../tree.ts';

export type Parameter = string | number | boolean;

/** Statement as it is sent to a database. */
export interface Printed {
  sql: string;
  parameters: Parameter[];
  /** The functions that it calls, in small letters, those behind LIKE and GLOB too: SQLite's authorizer asks. */
  functions: string[];
}

/** Words before a parenthesis that are no functions. */
const words = new Set([
  'as',
  'and',
  'or',
  'not',
  'in',
  'on',
  'when',
  'then',
  'else',
  'where',
  'cast',
  'exists',
  'over',
]);

const functionsOf = (sql: string): string[] => {
  const bare = sql.replaceAll(/"(?:[^"]|"")*"|'(?:[^']|'')*'/g, '""').toLowerCase();
  const called = [...bare.matchAll(/([a-z_][a-z0-9_]*)\(/g)].map(([, name]) => name!);
  const operators = ['like', 'glob'].filter((name) => bare.includes(` ${name} `));
  return [...new Set([...called, ...operators])].filter((name) => !words.has(name)).sort();
};

/** Some functions print an argument several times; nested, that would grow without end. */
const mostCharacters = 500_000;

/** Between these stands the number of a value, until the end. No name and no text has the character. */
const mark = '\0';

/** Characters that mean nothing to any engine inside of quotes. */
const harmless = /^[A-Za-z0-9 _.,:;+/-]*$/;

/** Writes the pieces of one statement for one engine, and collects its parameters. */
export class Writer {
  readonly engine: Engine;
  readonly #values: Parameter[] = [];
  readonly #aliases = new Map<Range, string>();
  readonly #takenAliases = new Set<string>();

  constructor(engine: Engine) {
    this.engine = engine;
  }

  /** A name, quoted. MySQL is told by its session to quote as the others do. */
  name(...parts: string[]): string {
    return parts
      .map((part) => {
        if (part === '' || part.includes(mark))
          throw notSupported('A name is empty or has the character NUL.');
        return `"${part.replaceAll('"', '""')}"`;
      })
      .join('.');
  }

  /**
   * Returns the name of a table of FROM. On MySQL each has a name of its own in the whole statement: MariaDB 10.11
   * merges subqueries, and where two of them use one name, ORDER BY next to a window function is ambiguous for it
   * (1052) or ends the server.
   */
  alias(range: Range): string {
    if (this.engine !== 'mysql') return range.alias;
    const known = this.#aliases.get(range);
    if (known !== undefined) return known;
    const unique = uniqueName(range.alias, this.#takenAliases);
    this.#aliases.set(range, unique);
    return unique;
  }

  checked(sql: string): string {
    if (sql.length > mostCharacters)
      throw notSupported(
        'The SQL becomes too long. Write a smaller query, with fewer functions inside functions.',
      );
    return sql;
  }

  refused(what: string): never {
    throw notSupported(`${what} is not available on ${engineNames[this.engine]}.`, what.replaceAll('`', ''));
  }

  #parameter(value: Parameter): string {
    this.#values.push(value);
    return `${mark}${this.#values.length - 1}${mark}`;
  }

  /** Text where MySQL takes no parameter. */
  literal(text: string): string {
    return harmless.test(text) ? `'${text}'` : `X'${Buffer.from(text).toString('hex')}'`;
  }

  /** Text as a parameter without a type. */
  text(text: string): string {
    if (text.includes(mark)) throw notSupported('A text has the character NUL.');
    return this.#parameter(text);
  }

  constant(node: Constant): string {
    const { type, value, bound } = node;
    if (value === null) return 'NULL';
    if (type === 'Null') throw notSupported('NULL with a value.');
    if (type === 'Boolean') {
      if (!bound) return value ? 'TRUE' : 'FALSE';
      const typed = this.engine === 'postgres' || this.engine === 'duckdb';
      return typed ? this.#cast(this.#parameter(value === true), type) : this.#parameter(value ? 1 : 0);
    }
    if (type === 'Integer' || type === 'Decimal' || type === 'Float')
      return this.#number(node, String(value));
    const text = this.#form(type, String(value));
    if (type === 'String' && (node.untyped || this.engine === 'mysql' || this.engine === 'sqlite'))
      return this.text(text);
    return this.engine === 'sqlite' ? this.text(text) : this.#cast(this.text(text), type);
  }

  #number({ type, bound }: Constant, digits: string): string {
    if (!/^-?\d+(\.\d+)?$/.test(digits)) throw notSupported('A number has other characters than digits.');
    if (!bound) return digits.startsWith('-') ? `(${digits})` : digits;
    const scale = digits.split('.')[1]?.length ?? 0;
    // A number where that is the same, as responses show parameters.
    const value = String(Number(digits)) === digits ? Number(digits) : digits;
    const name = typeNames[this.engine][type as 'Decimal'];
    const sized = /^DECIMAL\((\d+)/.exec(name);
    return `CAST(${this.#parameter(value)} AS ${sized ? `DECIMAL(${sized[1]}, ${Math.min(scale, 30)})` : name})`;
  }

  #cast(sql: string, type: Exclude<Constant['type'], 'Null'>): string {
    // MySQL (not MariaDB) makes a date and a time of a parameter first: '01:02:03' would be the day 2001-02-03.
    const given = this.engine === 'mysql' && type === 'Time' ? `CAST(${sql} AS CHAR)` : sql;
    return `CAST(${given} AS ${typeNames[this.engine][type]})`;
  }

  /** ISO text as the engine compares it: on SQLite as the text of its dates. */
  #form(type: Constant['type'], value: string): string {
    if (this.engine === 'sqlite' && (type === 'DateTime' || type === 'DateTimeTz' || type === 'Time')) {
      const [seconds = '', fraction = ''] = value.split('.');
      return `${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}`;
    }
    return type === 'DateTimeTz' && this.engine !== 'mysql' ? `${value}+00` : value;
  }

  /** The statement with its parameters in their places. */
  finish(sql: string): Printed {
    const parameters: Parameter[] = [];
    const numbered = this.engine === 'postgres' || this.engine === 'duckdb';
    const places = new Map<string, number>();
    const text = this.checked(sql).replaceAll(new RegExp(`${mark}(\\d+)${mark}`, 'g'), (_, index: string) => {
      const value = this.#values[Number(index)]!;
      if (!numbered) {
        parameters.push(value);
        return '?';
      }
      // One number for one value: else the same expression in SELECT and GROUP BY would be two.
      const key = `${typeof value}:${value}`;
      let place = places.get(key);
      if (place === undefined) {
        parameters.push(value);
        place = parameters.length;
        places.set(key, place);
      }
      return `$${place}`;
    });
    return { sql: text, parameters, functions: functionsOf(text) };
  }
}
