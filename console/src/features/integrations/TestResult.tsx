import type { ObservabilityTestResult } from '../../api/types.gen.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { Mark, Say, Section } from '../../ui/index.ts';
import css from './TestResult.module.css';

/** What each step of a test found. The first that failed is the last. */
export const TestResult = ({ result }: { result: ObservabilityTestResult }) => (
  <Section label={words.testTitle}>
    <div role="status">
      <Say tone={result.ok ? 'good' : 'bad'} title={result.ok ? words.testOk : words.testFailed}>
        <ol className={css.steps}>
          {result.steps.map(({ step, ok, detail }) => (
            <li key={step}>
              <Mark kind={ok ? 'on-time' : 'missing'} /> <b>{words.steps[step]}</b> <span>{detail}</span>
            </li>
          ))}
        </ol>
      </Say>
    </div>
  </Section>
);
