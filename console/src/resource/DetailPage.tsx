import type { ReactNode } from 'react';
import {
  type ApiProblem,
  type ChangeId,
  type InputOf,
  type LoadState,
  type OperationId,
  type Output,
  type Params,
  perform,
  type Role,
  useAction,
} from '../api/index.ts';
import { to } from '../routing/to.ts';
import { useUrlState } from '../routing/url-state.ts';
import { common } from '../text/en/common.ts';
import { Button, Loaded, Page, Problem, Tabs, useDisabledReason } from '../ui/index.ts';
import { DeleteButton, type DeleteId } from './DeleteDialog.tsx';

interface Removal<T, D extends DeleteId> {
  operation: D;
  params: Params<D>;
  /** The role that this thing needs, if it is higher than that of the operation. */
  atLeast?: Role;
  words: { deleteTitle: string; deleted: string };
  nameless?: boolean;
  /** Consequences and obstacles. */
  text: (thing: T, refusal: ApiProblem | null) => ReactNode;
}

interface Test<T, C extends ChangeId> {
  operation: C;
  params: Params<C>;
  label?: string;
  show: (result: Output<C>, thing: T) => ReactNode;
}

/** The page of one thing: name, state, actions and content. */
export const DetailPage = <T extends { id: string }, D extends DeleteId, C extends ChangeId>({
  got,
  operation,
  kind,
  name,
  list,
  id,
  lead,
  removal,
  test,
  actions,
  problem,
  above,
  children,
}: {
  got: LoadState<T>;
  /** The operation of `got`: a refusal says which role it needs. */
  operation: OperationId;
  /** The title until the thing is there: "Tool server". */
  kind: string;
  name: (thing: T) => string;
  list: { label: string; href: string };
  /** The id in the address: the audit log says who deleted it. */
  id: string;
  lead: (thing: T) => ReactNode;
  removal?: Removal<T, D>;
  test?: Test<T, C>;
  actions?: (thing: T) => ReactNode;
  problem?: ApiProblem | null;
  above?: ReactNode;
  children: (thing: T) => ReactNode;
}) => {
  const { data, etag } = got;
  const mayDelete = useDisabledReason(removal?.operation ?? operation, removal?.atLeast);
  const mayTest = useDisabledReason(test?.operation ?? operation);
  const testing = useAction(
    async ({ operation, params }: Test<T, C>) =>
      (await perform(operation, params, ...([] as unknown as InputOf<C>))).body,
  );
  const failure = testing.error ?? problem;
  return (
    <Page
      title={data ? name(data) : kind}
      crumbs={[list]}
      lead={data && lead(data)}
      actions={
        data && (
          <>
            {removal && (
              <DeleteButton<D>
                operation={removal.operation}
                params={removal.params}
                etag={etag}
                title={removal.words.deleteTitle}
                name={removal.nameless ? undefined : name(data)}
                deleted={removal.words.deleted}
                opens={list.href}
                disabledReason={mayDelete}
              >
                {(refusal) => removal.text(data, refusal)}
              </DeleteButton>
            )}
            {actions?.(data)}
            {test && (
              <Button
                kind="primary"
                busy={testing.busy}
                disabledReason={mayTest}
                onClick={() => void testing.run(test)}
              >
                {test.label ?? common.test}
              </Button>
            )}
          </>
        )
      }
    >
      {failure && <Problem error={failure} />}
      {data && testing.result && test?.show(testing.result, data)}
      {above}
      <Loaded got={got} operation={operation} list={list} audit={to('/audit', {}, { target_id: id })}>
        {children}
      </Loaded>
    </Page>
  );
};

/** The tabs of a page of one thing, by their names in the address. The first is the one without a name there. */
export const PageTabs = <V extends string>({
  label,
  words,
  counts = {},
  keeps = [],
  tabs,
}: {
  label: string;
  words: Readonly<Record<NoInfer<V>, string>>;
  counts?: { [K in V]?: number | undefined };
  /** The parameters of the address that stay when another tab is opened. */
  keeps?: readonly string[];
  /** The content of each tab; null for a tab that this thing does not have. */
  tabs: Readonly<Record<V, (() => ReactNode) | null>>;
}) => {
  const { search, href } = useUrlState<{ tab?: V }>();
  const shown = (Object.keys(tabs) as V[]).filter((value) => tabs[value] !== null);
  const [first] = shown;
  const open = search.tab && tabs[search.tab] ? search.tab : first!;
  const dropped = Object.keys(search).filter((name) => !keeps.includes(name));
  const others = Object.fromEntries(dropped.map((name) => [name, undefined]));
  return (
    <Tabs
      label={label}
      value={open}
      tabs={shown.map((value) => ({
        value,
        label: words[value],
        href: href({ ...others, tab: value === first ? undefined : value }),
        count: counts[value] || undefined,
      }))}
    >
      {tabs[open]?.()}
    </Tabs>
  );
};
