// Reads the results that vitest wrote as JSON.
//   node .ci/results.ts failed FILE         prints the files of tests that failed, one a line
//   node .ci/results.ts sum DIR NAME...     prints what failed, what passed only at its second run, and "N passed, N failed";
//                                           the results of NAME are DIR/NAME.json and, of a second run, DIR/NAME-again.json
import { existsSync, readFileSync } from 'node:fs';

/** What is read of a file of tests (vitest's reporter `json`). */
interface FileResult {
  name: string;
  status: string;
  message: string;
  assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
}

/** The results by file of tests; null if there are none: the run was ended, or never began. */
const read = (path: string): Map<string, FileResult> | null => {
  if (!existsSync(path)) return null;
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as { testResults: FileResult[] };
  return new Map(testResults.map((one) => [one.name, one]));
};

const [command, ...rest] = process.argv.slice(2);
if (command === 'failed') {
  for (const { name, status } of read(rest[0]!)?.values() ?? []) if (status === 'failed') console.log(name);
} else {
  const [directory, ...names] = rest;
  let [passed, failed] = [0, 0];
  for (const name of names) {
    const results = read(`${directory}/${name}.json`);
    if (results === null) {
      console.log(`failed: ${name} wrote no results`);
      failed += 1;
      continue;
    }
    for (const [file, again] of read(`${directory}/${name}-again.json`) ?? []) {
      for (const { status, fullName } of results.get(file)?.assertionResults ?? [])
        if (status === 'failed' && again.status !== 'failed')
          console.log(`passed at its second run: ${file}: ${fullName}`);
      results.set(file, again);
    }
    for (const { name: file, status, message, assertionResults } of results.values()) {
      passed += assertionResults.filter((test) => test.status === 'passed').length;
      const tests = assertionResults.filter((test) => test.status === 'failed');
      failed += tests.length;
      for (const test of tests)
        console.log(`failed: ${file}: ${test.fullName}\n${test.failureMessages.join('\n').slice(0, 2000)}`);
      // A file that could not be loaded has no tests.
      if (status !== 'failed' || tests.length > 0) continue;
      failed += 1;
      console.log(`failed: ${file}: ${message}`);
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
  if (passed === 0 || failed > 0) process.exit(1);
}
