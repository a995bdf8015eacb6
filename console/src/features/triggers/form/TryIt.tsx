import { useState } from 'react';
import { type LoadState, type Output, useOperation, usePostQuery } from '../../../api/index.ts';
import type { PublicTrigger, TriggerEvent } from '../../../api/types.gen.ts';
import { EventTag } from '../../../resource/EventTag.tsx';
import { valueText } from '../../../resource/index.ts';
import { useSettled } from '../../../resource/settled.ts';
import { triggerForm as words } from '../../../text/en/trigger-form.ts';
import { triggers } from '../../../text/en/triggers.ts';
import { exactTime, useZone } from '../../../time/index.ts';
import {
  Box,
  Callout,
  CodeBlock,
  Facts,
  Muted,
  Problem,
  Select,
  Skeleton,
  Textarea,
} from '../../../ui/index.ts';
import { paramsOf } from '../shared/params.ts';
import { withColumns } from './faults.ts';
import { type TriggerValues, triggerForm } from './form.tsx';
import { hasHeaders, type Sample, sampleOf } from './samples.ts';
import css from './TryIt.module.css';
import { type Tried, tryKept, trySample } from './tried.ts';

/** As many deliveries as are tried with the chosen one. */
const mostTried = 10;
const sampleValue = 'sample';

type Result = Output<'tryTrigger'>['results'][number];

/** Faults of expressions, by the labels of their fields. */
const Refusal = ({ error }: { error: NonNullable<LoadState<unknown>['error']> }) => {
  const refusal = withColumns(error) as typeof error;
  const labelOf = (path: string): string => {
    const name = triggerForm.create.fieldOf(path.replace(/^trigger\./, ''));
    return (triggerForm.names as string[]).includes(name) ? triggerForm.labelOf(name) : path;
  };
  return (
    <Callout tone="bad" title={words.tryRefused}>
      <ul className={css.faults}>
        {refusal.details.map(({ path, message }) => (
          <li key={`${path} ${message}`}>{`${labelOf(path)}: ${message}`}</li>
        ))}
      </ul>
    </Callout>
  );
};

/** A text as it is, with its lines; "none" for an empty one. */
const Text = ({ text }: { text: string | null }) =>
  text ? <div className={css.text}>{text}</div> : <Muted third>{words.noText}</Muted>;

const Started = ({ result: { work_item_name, message, key, payload } }: { result: Result }) => (
  <>
    <Facts
      facts={[
        [words.work_item_name, <Text key="name" text={work_item_name} />],
        [words.message, <Text key="message" text={message} />],
        key !== null && [words.key, <code key="key">{valueText(key)}</code>],
      ]}
    />
    {payload && <CodeBlock label={words.carries} code={JSON.stringify(payload, null, 2)} />}
  </>
);

const ResultView = ({ result, all }: { result: Result; all: readonly Result[] }) => (
  <>
    <div className={css.head}>
      <EventTag outcome={result.outcome}>{words.verdicts[result.outcome]}</EventTag>
      {all.length > 1 && (
        <Muted small>
          {words.ofKept(all.length, all.filter(({ outcome }) => outcome === 'fired').length)}
        </Muted>
      )}
    </div>
    {result.outcome === 'fired' ? <Started result={result} /> : <p className={css.reason}>{result.reason}</p>}
  </>
);

/** What an event would start by the values of the form, as they are typed. Nothing is written. */
const TryResult = ({
  agentId,
  tried,
  eventId,
}: {
  agentId: string;
  tried: Tried;
  eventId: string | null;
}) => {
  // A text is the same while the values are.
  const settled = useSettled(JSON.stringify(tried), 400);
  const got = usePostQuery('tryTrigger', { agent_id: agentId }, JSON.parse(settled) as Tried);
  const { data, error, previous, refetch } = got;
  const content = () => {
    if (error?.details.length) return <Refusal error={error} />;
    if (error) return <Problem error={error} onRetry={refetch} />;
    if (!data) return <Skeleton rows={5} />;
    const result = data.results.find(({ event_id }) => event_id === eventId) ?? data.results[0];
    return result ? (
      <ResultView result={result} all={data.results} />
    ) : (
      <p className={css.reason}>{words.notKept}</p>
    );
  };
  return (
    <div aria-live="polite" className={previous && !error ? css.previous : css.result}>
      {content()}
    </div>
  );
};

const SampleFields = ({
  sample,
  withHeaders,
  wrong,
  onChange,
}: {
  sample: Sample;
  withHeaders: boolean;
  wrong: 'headers' | 'body' | null;
  onChange: (sample: Sample) => void;
}) => (
  <>
    <Textarea
      label={words.sample}
      value={sample.body}
      onChange={(body) => onChange({ ...sample, body })}
      error={wrong === 'body' ? words.notJson : undefined}
      rows={7}
      mono
    />
    {withHeaders && (
      <Textarea
        label={words.headers}
        hint={words.headersHint}
        value={sample.headers}
        onChange={(headers) => onChange({ ...sample, headers })}
        error={wrong === 'headers' ? words.notHeaders : undefined}
        rows={1}
        mono
      />
    )}
  </>
);

const useKept = (trigger: PublicTrigger | undefined): { loading: boolean; kept: TriggerEvent[] } => {
  const got = useOperation('listTriggerEvents', trigger ? paramsOf(trigger) : null, {
    query: { limit: 50 },
    onFocus: false,
  });
  const kept = (got.data?.data ?? []).filter(({ body_kept }) => body_kept);
  return { loading: trigger !== undefined && got.loading, kept };
};

/** The region "Try it" of a form: a kept delivery of the trigger or a sample, and what it would start. */
export const TryIt = ({ values, trigger }: { values: TriggerValues; trigger?: PublicTrigger }) => {
  const { loading, kept } = useKept(trigger);
  const zone = useZone();
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState<Sample | null>(null);
  const event = kept.find(({ id }) => id === chosen) ?? (chosen === null ? kept[0] : undefined);
  const sample = typed ?? sampleOf(values);
  const others = kept.map(({ id }) => id).filter((id) => id !== event?.id);
  const tried =
    event && trigger
      ? tryKept(values, trigger, [event.id, ...others.slice(0, mostTried - 1)])
      : trySample(values, trigger, sample);
  const wrong = 'wrong' in tried ? tried.wrong : null;
  const options = [
    { value: sampleValue, label: words.sample },
    ...kept.map(({ id, at, type, event_id, outcome }) => ({
      value: id,
      label: words.keptEvent(exactTime(new Date(at), zone, { seconds: true }), type ?? event_id),
      note: triggers.outcomes[outcome],
    })),
  ];
  return (
    <div className={css.sticky}>
      <Box padded title={words.tryIt}>
        {loading ? (
          <Skeleton rows={8} />
        ) : (
          <>
            <div className={css.fields}>
              <Select
                label={words.event}
                value={event?.id ?? sampleValue}
                onChange={setChosen}
                options={options}
                hint={trigger && kept.length === 0 ? words.notKept : undefined}
              />
              {!event && (
                <SampleFields
                  sample={sample}
                  withHeaders={hasHeaders(values)}
                  wrong={wrong}
                  onChange={setTyped}
                />
              )}
            </div>
            {values.owner === null ? (
              <Muted>{words.tryNeedsAgent}</Muted>
            ) : (
              !('wrong' in tried) && (
                <TryResult agentId={values.owner} tried={tried} eventId={event?.event_id ?? null} />
              )
            )}
          </>
        )}
      </Box>
    </div>
  );
};
