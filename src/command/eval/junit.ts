import type { CaseResult } from './results.ts';

/** Results as JUnit XML, which build servers show: a suite for the dataset, a test case for each of its cases. */

export interface JunitSuite {
  /** The name of the dataset. */
  name: string;
  /** The agent and its version. */
  className: string;
  cases: readonly CaseResult[];
}

/** Characters that XML 1.0 allows in no form (section 2.2), and halves of a surrogate pair. */
const notInXml = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(notInXml, '\uFFFD')
    .replace(/[&<>"\n\r\t]/g, (character) => entities[character]!);

const element = (name: string, messages: readonly string[]): string =>
  messages.length === 0
    ? ''
    : `<${name} message="${escaped(messages[0]!)}">${messages.map(escaped).join('\n')}</${name}>`;

const testCase = (
  className: string,
  { name, seconds, failures, errors, isCancelled }: CaseResult,
): string => {
  const content =
    element('error', errors) || element('failure', failures) || (isCancelled ? '<skipped/>' : '');
  return `    <testcase classname="${escaped(className)}" name="${escaped(name)}" time="${seconds.toFixed(3)}">${content}</testcase>\n`;
};

/** Returns the document. A case is an error if a trial of it has none of its scores, a failure if a grader fails it. */
export const junitOf = ({ name, className, cases }: JunitSuite): string => {
  const errors = cases.filter((one) => one.errors.length > 0).length;
  const failures = cases.filter((one) => one.errors.length === 0 && one.failures.length > 0).length;
  const skipped = cases.filter((one) => one.isCancelled).length;
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0).toFixed(3);
  const counts = `tests="${cases.length}" failures="${failures}" errors="${errors}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<testsuites ${counts} time="${seconds}">\n`,
    `  <testsuite name="${escaped(name)}" ${counts} skipped="${skipped}" time="${seconds}">\n`,
    ...cases.map((one) => testCase(className, one)),
    '  </testsuite>\n</testsuites>\n',
  ].join('');
};
