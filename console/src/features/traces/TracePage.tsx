import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useOperation } from '../../api/index.ts';
import type { Trace } from '../../api/types.gen.ts';
import { MakeCaseButton } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { traces as words } from '../../text/en/traces.ts';
import { usd } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import { TraceView } from '../../traces/index.ts';
import {
  Button,
  ButtonLink,
  CopyButton,
  downloadText,
  Emphasis,
  Loaded,
  Muted,
  Page,
  Skeleton,
  useDisabledReason,
} from '../../ui/index.ts';

const CompareDialog = lazy(() =>
  import('./CompareDialog.tsx').then(({ CompareDialog }) => ({ default: CompareDialog })),
);

const list = { label: pages.traces, href: to('/traces') };

const Lead = ({ trace }: { trace: Trace }) => {
  const { status, duration_ms, span_count, tokens, cost_nano_usd, models, errors, agent, service } = trace;
  const time = words.micros(duration_ms * 1_000);
  const failed = status === 'error';
  const facts = [
    agent?.name ?? agent?.id,
    service,
    words.spanCount(span_count),
    tokens === null ? null : words.tokenCount(tokens),
    cost_nano_usd === null ? null : usd(cost_nano_usd),
    models.length === 0 ? null : words.usedModels(models.slice(0, 3)),
  ].filter((fact) => fact != null);
  return (
    <>
      <Emphasis {...(failed ? { tone: 'missing' as const } : {})}>
        {failed ? words.failedAfter(time) : words.okAfter(time)}
      </Emphasis>{' '}
      {failed && errors.length > 0 && <>{words.errorsAre(errors.slice(0, 4))} </>}
      {words.facts(facts)}{' '}
      <Muted third>
        <Time at={trace.started_at} seconds />
      </Muted>
    </>
  );
};

const Actions = ({ trace }: { trace: Trace }) => {
  const [comparing, setComparing] = useState(false);
  const { trace_id, work_item_id } = trace;
  const item = useOperation('getWorkItem', work_item_id === null ? null : { work_item_id }, {
    onFocus: false,
  });
  const mayList = useDisabledReason('listTraces');
  const ended = item.data && ['COMPLETED', 'ERROR'].includes(item.data.status);
  return (
    <>
      <CopyButton value={trace_id} label={words.copyTraceId} kind="quiet" />
      <Button
        kind="quiet"
        onClick={() => downloadText(JSON.stringify(trace, null, 2), `trace-${trace_id}.json`)}
      >
        {words.download}
      </Button>
      <Button disabledReason={mayList} onClick={() => setComparing(true)}>
        {words.compareWith}
      </Button>
      {ended && work_item_id !== null && <MakeCaseButton source={{ work_item_id }} mode="worker" />}
      {item.data && work_item_id !== null && (
        <ButtonLink href={to('/work-items/$workItemId', { workItemId: work_item_id })}>
          {words.openWorkItem}
        </ButtonLink>
      )}
      {comparing && (
        <Suspense>
          <CompareDialog trace={trace} onClose={() => setComparing(false)} />
        </Suspense>
      )}
    </>
  );
};

export const TracePage = () => {
  const { traceId } = useParams({ from: '/shell/traces/$traceId' });
  const got = useOperation('getTrace', { trace_id: traceId }, { onFocus: false });
  const trace = got.data;
  return (
    <Page
      title={trace ? trace.name || words.unnamed : words.trace}
      crumbs={[list]}
      lead={trace ? <Lead trace={trace} /> : ''}
      actions={trace && <Actions trace={trace} />}
      wide
    >
      <Loaded got={got} operation="getTrace" list={list} skeleton={<Skeleton rows={12} height={28} />}>
        {(whole) => <TraceView trace={whole} />}
      </Loaded>
    </Page>
  );
};
