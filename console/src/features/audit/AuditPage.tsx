import { useState } from 'react';
import { addressOf, call, type Output, type QueryOf, useAction, useOperation } from '../../api/index.ts';
import { ListPage } from '../../resource/index.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { audit as words } from '../../text/en/audit.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, ButtonLink, Callout, optionsOf, Problem, useDisabledReason } from '../../ui/index.ts';
import { columns } from './columns.tsx';
import type { auditSearch } from './search.ts';

type Verification = Output<'verifyAuditPart'>;

const part = 20_000;

/** Verifies the chain part by part, so that a long one shows how far it is. */
const useVerification = () => {
  const [checked, setChecked] = useState(0);
  const [result, setResult] = useState<Verification | null>(null);
  const action = useAction(async () => {
    setResult(null);
    setChecked(0);
    let after: Partial<Verification> = {};
    for (let sum = 0; ; ) {
      const query = { limit: part, position: after.position, hash: after.hash };
      const { body }: { body: Verification } = await call('verifyAuditPart', {}, { query });
      sum += body.checked;
      setChecked(sum);
      if (body.done || !body.ok) {
        setResult({ ...body, checked: sum });
        return;
      }
      after = body;
    }
  });
  return { action, checked, result };
};

const Result = ({ result: { ok, checked, broken_at, hash } }: { result: Verification }) =>
  ok ? (
    <Callout tone="good" title={words.whole(checked, hash)} />
  ) : (
    <Callout tone="bad" title={broken_at === null ? words.brokenSomewhere : words.broken(broken_at)} />
  );

const options = (values: readonly string[] = []) => values.map((value) => ({ value, label: value }));

export const AuditPage = () => {
  const { search } = useUrlState<ReturnType<typeof auditSearch>>();
  const facets = useOperation('getAuditFacets', {}, { staleTime: 60_000 }).data;
  const { action, checked, result } = useVerification();
  const mayVerify = useDisabledReason('verifyAuditPart');
  const mayExport = useDisabledReason('exportAuditEntries');
  const { next: _, ...filter } = search;
  const principals = facets?.principals.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  return (
    <ListPage
      title={pages.audit}
      words={words}
      operation="listAuditEntries"
      every={null}
      filters={[
        { name: 'q' },
        { name: 'principal_id', label: words.who, options: principals },
        { name: 'action', label: words.action, options: options(facets?.actions) },
        { name: 'target_type', label: words.target, options: options(facets?.target_types) },
        { name: 'outcome', label: words.outcome, options: optionsOf(words.outcomes) },
        { name: 'target_id' },
        { name: 'from' },
        { name: 'to' },
        { name: 'request_id' },
      ]}
      columns={columns}
      name={({ action }) => action}
      actions={
        <>
          <ButtonLink
            href={addressOf('exportAuditEntries', {}, filter as QueryOf<'exportAuditEntries'>)}
            disabledReason={mayExport}
          >
            {words.exportAll}
          </ButtonLink>
          <Button
            kind="primary"
            busy={action.busy}
            disabledReason={mayVerify}
            onClick={() => void action.run()}
          >
            {words.verify}
          </Button>
        </>
      }
    >
      <div role="status">
        {action.busy && <Callout title={words.verifying(checked)} />}
        {result && !action.busy && <Result result={result} />}
      </div>
      {action.error && <Problem error={action.error} />}
    </ListPage>
  );
};
