import type { ReactNode } from 'react';
import type { Edit } from '../api/index.ts';
import { common } from '../text/en/common.ts';
import { Button, type ButtonProps, Conflict, type Difference, Form } from '../ui/index.ts';
import { DiscardButton } from './DiscardButton.tsx';
import { FormProblems } from './SubmitForm.tsx';

/** Someone else saved first: both versions, and which one stays. */
export const EditConflict = <T, V extends object>({
  edit: { form, theirs, keepTheirs, writeMine, later },
  differences,
  onSaved,
}: {
  edit: Edit<T, V>;
  differences: (theirs: V, mine: V) => readonly Difference[];
  onSaved: () => void;
}) => (
  <Conflict
    open={theirs !== null}
    differences={theirs ? differences(theirs, form.values) : []}
    onKeepTheirs={keepTheirs}
    onWriteMine={() => void writeMine().then((saved) => saved && onSaved())}
    onClose={later}
    busy={form.busy}
  />
);

const textOf = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? common.yes : common.no;
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/**
 * A form that changes a thing, with Save and Discard. `labels` has the labels of fields by their names, and may have other
 * words too: two versions are compared by the fields that it names, except secrets.
 */
export const EditForm = <T, V extends object>({
  edit,
  labels,
  texts = {},
  onSaved,
  save = common.save,
  kind = 'plain',
  actions,
  discard,
  side,
  wide,
  children,
}: {
  edit: Edit<T, V>;
  labels: Readonly<Record<string, unknown>>;
  texts?: { [K in keyof V]?: (value: V[K]) => string };
  onSaved: () => void;
  save?: string;
  kind?: ButtonProps['kind'];
  actions?: ReactNode;
  /** Where Discard leads. Without it, the form is as it was, and stays. */
  discard?: string;
  side?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}) => {
  const { form, secrets } = edit;
  const differences = (theirs: V, mine: V): Difference[] =>
    (Object.keys(mine) as (keyof V & string)[])
      .filter((name) => typeof labels[name] === 'string' && !secrets.includes(name))
      .map((name) => {
        const say = texts[name] ?? textOf;
        return { label: labels[name] as string, theirs: say(theirs[name]), mine: say(mine[name]) };
      });
  return (
    <>
      <Form
        onSubmit={() => void form.submit().then((saved) => saved && onSaved())}
        side={side}
        wide={wide}
        actions={
          <>
            <Button type="submit" kind={kind} busy={form.busy} disabledReason={form.disabledReason}>
              {save}
            </Button>
            {actions}
            {discard ? (
              <DiscardButton href={discard} />
            ) : (
              form.dirty && (
                <Button kind="quiet" onClick={() => form.reset()}>
                  {common.discard}
                </Button>
              )
            )}
          </>
        }
      >
        {children}
        <FormProblems form={form} />
      </Form>
      <EditConflict edit={edit} differences={differences} onSaved={onSaved} />
    </>
  );
};
