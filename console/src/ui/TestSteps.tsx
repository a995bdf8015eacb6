import type { ReactNode } from 'react';
import { Mark } from './drawings/marks.tsx';
import { Section } from './Page.tsx';
import { Say } from './states.tsx';
import css from './TestSteps.module.css';

/** What each step of a connection test found, said when it is there. The first that failed is the last. */
export const TestSteps = ({
  label,
  ok,
  title,
  steps,
  note,
}: {
  /** The name of the region. */
  label: string;
  ok: boolean;
  title: string;
  steps: readonly { name: string; ok: boolean; detail: string }[];
  /** Said below: how long it took. */
  note?: ReactNode;
}) => (
  <Section label={label}>
    <div role="status">
      <Say tone={ok ? 'good' : 'bad'} title={title}>
        <ol className={css.steps}>
          {steps.map((step) => (
            <li key={step.name}>
              <Mark kind={step.ok ? 'on-time' : 'missing'} /> <b>{step.name}</b> <span>{step.detail}</span>
            </li>
          ))}
        </ol>
        {note}
      </Say>
    </div>
  </Section>
);
