import type { ObservabilityTestResult } from '../../api/types.gen.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { TestSteps } from '../../ui/index.ts';

/** What each step of a test found. */
export const TestResult = ({ result: { ok, steps } }: { result: ObservabilityTestResult }) => (
  <TestSteps
    label={words.testTitle}
    ok={ok}
    title={ok ? words.testOk : words.testFailed}
    steps={steps.map(({ step, ...result }) => ({ name: words.steps[step], ...result }))}
  />
);
