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
  usePermission,
} from '../api/index.ts';
import { to } from '../routing/to.ts';
import { useUrlState } from '../routing/url-state.ts';
import { common } from '../text/en/common.ts';
import { Button, Loaded, Page, Problem, permissionReason, Tabs } from '../ui/index.ts';
import { DeleteButton, type DeleteId } from './DeleteDialog.tsx';

/** How a page deletes its thing. */
interface Removal<T, D extends DeleteId> {
  operation: D;
  params: Params<D>;
  /** The role that this thing needs, if it is higher than that of the operation. */
  atLeast?: Role;
  /** The name of the action, and what is said when it is gone. */
  words: { deleteTitle: string; deleted: string };
  /** The thing has no name of its own. */
  nameless?: boolean;
  /** What goes with it, and what keeps it. */
  text: (thing: T, refusal: ApiProblem | null) => ReactNode;
}

/** How a page tests its thing. */
interface Test<T, C extends ChangeId> {
  operation: C;
  params: Params<C>;
  /** The text of the button, if it is not "Test". */
  label?: string;
  show: (result: Output<C>, thing: T) => ReactNode;
}

/** A page of one thing: its name, how it is, what can be done with it, and what it consists of. */
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
  /** The list that it is in. */
  list: { label: string; href: string };
  /** The id in the address: the audit log says who deleted it. */
  id: string;
  lead: (thing: T) => ReactNode;
  removal?: Removal<T, D>;
  test?: Test<T, C>;
  /** The buttons between "Delete" and "Test". */
  actions?: (thing: T) => ReactNode;
  /** Why one of `actions` failed. */
  problem?: ApiProblem | null;
  /** Above the content: what an action found. */
  above?: ReactNode;
  children: (thing: T) => ReactNode;
}) => {
  const { data, etag } = got;
  const mayDelete = permissionReason(usePermission(removal?.operation ?? operation, removal?.atLeast));
  const mayTest = permissionReason(usePermission(test?.operation ?? operation));
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
  tabs,
}: {
  label: string;
  words: Readonly<Record<V, string>>;
  counts?: { [K in V]?: number | undefined };
  /** What each tab shows; null for a tab that this thing does not have. */
  tabs: Readonly<Record<V, (() => ReactNode) | null>>;
}) => {
  const { search, href } = useUrlState<{ tab?: V }>();
  const shown = (Object.keys(tabs) as V[]).filter((value) => tabs[value] !== null);
  const [first] = shown;
  const open = search.tab && tabs[search.tab] ? search.tab : first!;
  const others = Object.fromEntries(Object.keys(search).map((name) => [name, undefined]));
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
