import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** What a name says that was made with `skipNote`. */
const note = /\(skipped: (.+?)\)(?= > |$)/;

/** In the name, or what the test gave `skip` when it ran. */
const reasonOf = (test: TestCase): string | undefined => {
  const result = test.result();
  return note.exec(test.fullName)?.[1] ?? (result.state === 'skipped' ? result.note : undefined);
};

/** The last lines of a run: what was not tested on this machine and why, and the command that adds what is missing. */
export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        const reason = reasonOf(test);
        if (reason) counts.set(reason, (counts.get(reason) ?? 0) + 1);
      }
    }
    if (counts.size === 0) return;
    const lines = [...counts]
      .sort(([, a], [, b]) => b - a)
      .map(([reason, count]) => `${String(count).padStart(6)} ${count === 1 ? 'test ' : 'tests'}: ${reason}`);
    const missing = [...counts.keys()].some((reason) => reason.startsWith('no '));
    const cure = missing ? ['`sudo .ci/parts` installs what is missing.'] : [];
    process.stdout.write(`\nSkipped:\n${[...lines, ...cure].join('\n')}\n`);
  }
}
