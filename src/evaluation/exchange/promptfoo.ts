import { isObject } from '../../lib/objects.ts';
import { storageFaults } from '../../lib/text.ts';
import { onThread } from '../../lib/thread.ts';
import { isFile, readAssertion, withUniqueNames } from './assertions.ts';
import { notesAt, readItem } from './items.ts';
import { firstObject, type ReadFile, type ReadOptions, readLines } from './reading.ts';
import { type ReadYaml, readYaml } from './yaml.ts';

/** Test cases of promptfoo: YAML or JSON with `tests`, a list of tests, or a test a line. */

type Fields = Record<string, unknown>;

/** A test with the lines of it and of its assertions. */
interface Test {
  value: unknown;
  line: number;
  lineOf(path: string): number;
}

/** Longer text is read on a thread of its own, in characters. */
const longText = 65_536;

const readOnThread = (text: string): Promise<ReadYaml> =>
  onThread(new URL('./yaml-worker.ts', import.meta.url), text);

const variable = /\{\{\s*([A-Za-z_]\w*)\s*\}\}/g;

const asText = (value: unknown): string =>
  value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value);

/** `value` with `{{name}}` replaced in each text by the variable of this name, if there is one. */
const fill = (value: unknown, vars: Fields): unknown => {
  if (typeof value === 'string') {
    return value.replaceAll(variable, (whole, name: string) =>
      Object.hasOwn(vars, name) ? asText(vars[name]) : whole,
    );
  }
  if (Array.isArray(value)) return value.map((one) => fill(one, vars));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, fill(field, vars)]));
};

const varsFault = (vars: unknown): string | undefined => {
  if (isFile(vars)) return 'vars: refers to a file, which is not imported';
  if (vars !== undefined && vars !== null && !isObject(vars)) return 'vars: must be an object';
  for (const [key, value] of Object.entries((vars ?? {}) as Fields)) {
    if (isFile(value)) return `vars.${key}: refers to a file, which is not imported; write its text here`;
    if (Array.isArray(value))
      return `vars.${key}: is a list, which stands for several tests; write one test for each value`;
  }
  return undefined;
};

const longestTag = 50;
const mostTags = 20;

/** Tags `key:value` of metadata; a list gives one for each value. */
const tagsOf = (metadata: unknown, notes: string[]): string[] => {
  if (!isObject(metadata)) return [];
  const all = Object.entries(metadata).flatMap(([key, value]) =>
    [value].flat().map((one) => `${key}:${asText(one)}`),
  );
  const tags = [...new Set(all)].filter((tag) => [...tag].length <= longestTag).slice(0, mostTags);
  if (tags.length < new Set(all).size) {
    notes.push(`metadata: only ${mostTags} tags of at most ${longestTag} characters are taken`);
  }
  return tags;
};

const longestName = 200;

/** Returns the case of a test, or the reason that it is none. */
const readTest = (test: Test, shared: Fields, options: ReadOptions): ReadFile | string => {
  const { value, line } = test;
  if (typeof value === 'string') return 'refers to tests elsewhere, which are not imported';
  if (!isObject(value)) return 'must be an object';
  const { vars, assert = [], description, metadata, ...others } = value;
  const wrong = varsFault(vars);
  if (wrong !== undefined) return wrong;
  if (!Array.isArray(assert)) return 'assert: must be a list';
  const all = { ...((shared.vars ?? {}) as Fields), ...((vars ?? {}) as Fields) };
  const read = readItem(fill(all, all) as Fields, options, true);
  if ('fault' in read) return read.fault;
  const notes = [...read.notes, ...Object.keys(others).map((key) => `\`${key}\` is left out`)];
  const tags = tagsOf(
    { ...((shared.metadata ?? {}) as Fields), ...(isObject(metadata) ? metadata : {}) },
    notes,
  );
  const file: ReadFile = { cases: [], warnings: notesAt(line, notes), faults: [] };
  const graders: Fields[] = [];
  const sharedAsserts = (shared.assert ?? []) as unknown[];
  for (const [i, given] of [...sharedAsserts, ...assert].entries()) {
    const own = i - sharedAsserts.length;
    const at = own >= 0 ? test.lineOf(`/assert/${own}`) : line;
    const assertion = readAssertion(fill(given, all));
    if ('fault' in assertion) {
      file.faults.push({ line: at, message: assertion.fault });
      continue;
    }
    // Those of defaultTest are noted once, there.
    if (own >= 0) file.warnings.push(...notesAt(at, assertion.notes));
    if (assertion.grader) graders.push(assertion.grader);
  }
  const name =
    typeof description === 'string'
      ? [...(fill(description, all) as string)].slice(0, longestName).join('')
      : '';
  file.cases.push({
    line,
    fields: {
      ...(name.trim() === '' ? {} : { name }),
      ...read.fields,
      ...(tags.length > 0 ? { tags } : {}),
      graders: withUniqueNames(graders),
    },
  });
  return file;
};

const addTest = (file: ReadFile, test: Test, shared: Fields, options: ReadOptions): void => {
  const read = readTest(test, shared, options);
  if (typeof read === 'string') {
    file.faults.push({ line: test.line, message: read });
    return;
  }
  file.cases.push(...read.cases);
  file.warnings.push(...read.warnings);
  file.faults.push(...read.faults);
};

/** Keys of the root that say nothing about tests. */
const ignored = new Set(['$schema', 'description', 'tests', 'defaultTest']);

const readShared = (given: unknown, lineOf: (path: string) => number, file: ReadFile): Fields => {
  if (given === undefined || given === null) return {};
  const line = lineOf('/defaultTest');
  if (!isObject(given)) {
    file.faults.push({ line, message: 'defaultTest: must be an object; a file is not imported' });
    return {};
  }
  const { vars, assert = [], metadata, ...others } = given;
  const wrong = varsFault(vars) ?? (Array.isArray(assert) ? undefined : 'assert: must be a list');
  if (wrong !== undefined) {
    file.faults.push({ line, message: `defaultTest.${wrong}` });
    return {};
  }
  const leftOut = Object.keys(others).map((key) => `\`${key}\` of defaultTest is left out`);
  file.warnings.push(...notesAt(line, leftOut));
  for (const [i, one] of (assert as unknown[]).entries()) {
    const read = readAssertion(one);
    if ('notes' in read) file.warnings.push(...notesAt(lineOf(`/defaultTest/assert/${i}`), read.notes));
  }
  return { vars, assert, metadata: isObject(metadata) ? metadata : {} };
};

const readDocument = (read: Exclude<ReadYaml, { fault: string }>, options: ReadOptions): ReadFile => {
  const file: ReadFile = { cases: [], warnings: [], faults: [] };
  const { value, lines } = read;
  const lineOf = (path: string) => lines.get(path) ?? 1;
  const [stored] = storageFaults(value);
  if (stored) {
    file.faults.push({ line: 1, message: `${stored.path}: ${stored.message}` });
    return file;
  }
  const root = isObject(value) ? value : { tests: value };
  const base = isObject(value) ? '/tests' : '';
  const { tests, defaultTest } = root;
  for (const key of Object.keys(root)) {
    if (!ignored.has(key)) file.warnings.push({ line: lineOf(`/${key}`), message: `\`${key}\` is left out` });
  }
  const shared = readShared(defaultTest, lineOf, file);
  if (!Array.isArray(tests)) {
    const message =
      tests === undefined ? 'has no `tests`' : 'tests: must be a list; files and generators are not imported';
    file.faults.push({ line: lineOf(base), message });
    return file;
  }
  for (const [i, test] of tests.entries()) {
    const line = lineOf(`${base}/${i}`);
    const lineIn = (path: string) => lines.get(`${base}/${i}${path}`) ?? line;
    addTest(file, { value: test, line, lineOf: lineIn }, shared, options);
  }
  return file;
};

/** Returns if the text has a test on each line: its first line is an object without `tests`. */
const isLines = (content: string): boolean => {
  const first = firstObject(content);
  return first !== undefined && !('tests' in first);
};

export const readPromptfoo = async (content: string, options: ReadOptions): Promise<ReadFile> => {
  if (isLines(content)) {
    const { lines, faults } = readLines(content);
    const file: ReadFile = { cases: [], warnings: [], faults };
    for (const { line, value } of lines) {
      addTest(file, { value, line, lineOf: () => line }, {}, options);
    }
    return file;
  }
  const read = await (content.length > longText ? readOnThread(content) : readYaml(content));
  if ('fault' in read) return { cases: [], warnings: [], faults: [{ line: read.line, message: read.fault }] };
  return readDocument(read, options);
};
