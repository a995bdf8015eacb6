import type { ReactNode } from 'react';
import { type Role, usePermission } from '../api/me.ts';
import type { ApiProblem } from '../api/request.ts';
import { common } from '../text/en/common.ts';
import { states } from '../text/en/states.ts';
import { times } from '../text/en/time.ts';
import { useClock } from '../time/clock.ts';
import { Bar, Button, ButtonLink } from './Button.tsx';
import { CodeBlock } from './CodeBlock.tsx';
import { CopyValue } from './CopyValue.tsx';
import { cx } from './cx.ts';
import { useReportNothingMatches } from './nothing-matches.ts';
import { permissionReason } from './permission.ts';
import { messageOf } from './problem-message.ts';
import css from './states.module.css';

/** The list of what a page shows one of. */
interface List {
  label: string;
  href: string;
}

/** Failure, shown where the person works: in a form, a dialog, over a list. */
export const Problem = ({ error, onRetry }: { error: ApiProblem; onRetry?: () => void }) => (
  <div role="alert" className={cx(css.say, css.bad)}>
    <p>{messageOf(error)}</p>
    {error.details.length > 0 && (
      <ul className={css.details}>
        {error.details.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <code>{path}</code> {message}
          </li>
        ))}
      </ul>
    )}
    {(error.errorId || onRetry) && (
      <Bar>
        {onRetry && (
          <Button small onClick={onRetry}>
            {common.tryAgain}
          </Button>
        )}
        {error.errorId && (
          <span className={css.id}>
            {states.errorId} <CopyValue value={error.errorId} mono />
          </span>
        )}
      </Bar>
    )}
  </div>
);

/** A sentence that belongs to what is above it, with a bar in the color of what it says. */
export const Callout = ({
  tone = 'plain',
  title,
  children,
}: {
  tone?: 'plain' | 'good' | 'look' | 'bad';
  title?: ReactNode;
  children?: ReactNode;
}) => (
  <div className={cx(css.say, css[tone])}>
    {title && <b>{title}</b>}
    {children && <div className={css.more}>{children}</div>}
  </div>
);

/** Nothing is there yet: one sentence, one button, one command that works. */
export const EmptyState = ({
  sentence,
  action,
  curl,
  children,
}: {
  sentence: string;
  action?: ReactNode;
  curl?: string | undefined;
  /** Below the button: a command that is not known yet. */
  children?: ReactNode;
}) => (
  <div className={css.empty}>
    <p>{sentence}</p>
    {action}
    {curl && <CodeBlock code={curl} label={states.command} />}
    {children}
  </div>
);

/** Nothing matches the filters. Never offer to create something here. */
export const NothingMatches = ({
  what,
  filters,
  onClear,
}: {
  what: string;
  filters: number;
  onClear: () => void;
}) => {
  useReportNothingMatches();
  return (
    <div className={css.empty}>
      <p>{states.nothingMatches(what, filters)}</p>
      <Button onClick={onClear}>{common.clearFilters}</Button>
    </div>
  );
};

/** The address asks for what the API refuses: the same again would be refused again. */
const WrongAddress = ({ error, list }: { error: ApiProblem; list: List | undefined }) => {
  useReportNothingMatches();
  return (
    <div className={css.state}>
      <Problem error={error} />
      <Bar>
        {location.search !== '' ? (
          <ButtonLink href={location.pathname}>{common.clearFilters}</ButtonLink>
        ) : (
          list && <ButtonLink href={list.href}>{list.label}</ButtonLink>
        )}
      </Bar>
    </div>
  );
};

/** The page can not be shown, and why. `list` is where it leads back to. */
export const ErrorState = ({
  error,
  onRetry,
  list,
}: {
  error: ApiProblem;
  onRetry: () => void;
  list?: List | undefined;
}) =>
  (error.status === 400 || error.status === 422) && (location.search !== '' || list) ? (
    <WrongAddress error={error} list={list} />
  ) : (
    <div className={css.state}>
      <Problem error={error} onRetry={onRetry} />
    </div>
  );

export const NoPermission = ({ role, requiredRole }: { role: Role; requiredRole: Role | null }) => (
  <div className={css.state}>
    <Callout tone="look" title={states.noPermission}>
      <p>{requiredRole ? states.roleNeeded(requiredRole, role) : states.notAllowed(role)}</p>
    </Callout>
  </div>
);

export const Gone = ({ list, audit }: { list: List; audit?: string | undefined }) => {
  const mayAudit = permissionReason(usePermission('listAudits'));
  return (
    <div className={css.state}>
      <Callout title={states.gone}>
        <p>{states.goneMore}</p>
      </Callout>
      <Bar>
        <ButtonLink href={list.href}>{list.label}</ButtonLink>
        {audit && (
          <ButtonLink kind="quiet" href={audit} disabledReason={mayAudit}>
            {states.whoDeleted}
          </ButtonLink>
        )}
      </Bar>
    </div>
  );
};

/** Age of the data: quiet while they are fresh, and with the reason when a refresh failed. */
export const Updated = ({ at, error }: { at: number; error?: ApiProblem | null }) => {
  const words = useClock((now) => times.updated(Math.max(0, Math.round((now - at) / 1_000) * 1_000)));
  if (at === 0) return null;
  return (
    <span className={cx(css.updated, error && css.stale)} title={error ? messageOf(error) : undefined}>
      {words}
      {error && `, ${states.refreshFailed}`}
    </span>
  );
};
