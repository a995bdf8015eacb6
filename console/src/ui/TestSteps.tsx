import type { ReactNode } from 'react';
import { Mark } from './drawings/marks.tsx';
import { Section } from './Page.tsx';
import { Callout } from './states.tsx';
import css from './TestSteps.module.css';

/** Steps of a connection test. The first that failed is the last. */
export const TestSteps = <S extends string>({
  words,
  result: { ok, steps },
  note,
}: {
  words: { testTitle: string; testOk: string; testFailed: string; steps: Readonly<Record<S, string>> };
  result: { ok: boolean; steps: readonly { step: S; ok: boolean; detail: string }[] };
  note?: ReactNode;
}) => (
  <Section label={words.testTitle}>
    <div role="status">
      <Callout tone={ok ? 'good' : 'bad'} title={ok ? words.testOk : words.testFailed}>
        <ol className={css.steps}>
          {steps.map(({ step, ok, detail }) => (
            <li key={step}>
              <Mark kind={ok ? 'on-time' : 'missing'} /> <b>{words.steps[step]}</b> <span>{detail}</span>
            </li>
          ))}
        </ol>
        {note}
      </Callout>
    </div>
  </Section>
);
