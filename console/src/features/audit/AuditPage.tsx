import { useState } from 'react';
import { request, useAction, useGet, usePermission, withQuery } from '../../api/index.ts';
import type { AuditEntryPage, AuditFacets, AuditPartVerification } from '../../api/types.gen.ts';
import { useCursor, useUrlState } from '../../app/url-state.ts';
import { audit as words } from '../../text/en/audit.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Box,
  Button,
  ButtonLink,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterText,
  Loaded,
  NothingMatches,
  Page,
  Pager,
  Problem,
  permissionReason,
  Say,
  Table,
} from '../../ui/index.ts';
import { columns } from './columns.tsx';
import type { auditSearch } from './search.ts';

const auditsPath = '/app/api/audits';
const filters = [
  'q',
  'action',
  'principal_id',
  'target_type',
  'target_id',
  'outcome',
  'from',
  'to',
  'request_id',
] as const;
const part = 20_000;

/** Verifies the chain part by part, so that a long one shows how far it is. */
const useVerification = () => {
  const [checked, setChecked] = useState(0);
  const [result, setResult] = useState<AuditPartVerification | null>(null);
  const action = useAction(async () => {
    setResult(null);
    setChecked(0);
    let after: Pick<AuditPartVerification, 'position' | 'hash'> | null = null;
    for (let sum = 0; ; ) {
      const query: Record<string, string | number> = { limit: part };
      if (after) Object.assign(query, { position: after.position, hash: after.hash });
      const { body } = await request<AuditPartVerification>('GET', `${auditsPath}/verify`, { query });
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

const Result = ({ result: { ok, checked, broken_at, hash } }: { result: AuditPartVerification }) =>
  ok ? (
    <Say tone="good" title={words.whole(checked)}>
      {words.lastHash(hash)}
    </Say>
  ) : (
    <Say tone="bad" title={broken_at === null ? words.brokenSomewhere : words.broken(broken_at)} />
  );

const options = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
const outcomes = Object.entries(words.outcomes).map(([value, label]) => ({ value, label }));

/** The audit log, its filters, and the proof that nothing in it was changed. */
export const AuditPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof auditSearch>>();
  const got = useGet<AuditEntryPage>(auditsPath, { query: { ...search, limit: 50 }, keepPrevious: true });
  const facets = useGet<AuditFacets>(`${auditsPath}/facets`, { staleTime: 60_000 });
  const pager = useCursor(got.data?.next);
  const { action, checked, result } = useVerification();
  const mayVerify = permissionReason(usePermission('verifyAuditPart'));
  const mayExport = permissionReason(usePermission('exportAuditEntries'));
  const { next: _, ...filter } = search;
  const principals = (facets.data?.principals ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Page
      title={pages.audit}
      lead={words.lead}
      actions={
        <>
          <ButtonLink href={withQuery(`${auditsPath}/export`, filter)} disabledReason={mayExport}>
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
        {action.busy && <Say title={words.verifying(checked)} />}
        {result && !action.busy && <Result result={result} />}
      </div>
      {action.error && <Problem error={action.error} />}
      <FilterBar set={count(filters)} onClear={() => clear(filters)}>
        <FilterText value={search.q ?? ''} onChange={(q) => set({ q })} />
        <FilterChoice
          label={words.who}
          value={search.principal_id ? [search.principal_id] : []}
          options={principals}
          onChange={([principal_id]) => set({ principal_id })}
        />
        <FilterChoice
          label={words.action}
          value={search.action ? [search.action] : []}
          options={options(facets.data?.actions ?? [])}
          onChange={([action]) => set({ action })}
        />
        <FilterChoice
          label={words.target}
          value={search.target_type ? [search.target_type] : []}
          options={options(facets.data?.target_types ?? [])}
          onChange={([target_type]) => set({ target_type })}
        />
        <FilterChoice
          label={words.outcome}
          value={search.outcome ? [search.outcome] : []}
          options={outcomes}
          onChange={([outcome]) => set({ outcome })}
        />
      </FilterBar>
      <Loaded got={got} operation="listAuditEntries">
        {({ data }) => (
          <Box>
            {data.length > 0 ? (
              <Table
                label={pages.audit}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ action }) => action}
              />
            ) : count(filters) > 0 ? (
              <NothingMatches what={words.what} filters={count(filters)} onClear={() => clear(filters)} />
            ) : (
              <EmptyState sentence={words.empty} />
            )}
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </Page>
  );
};
