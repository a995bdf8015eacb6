import { useId } from 'react';
import type { Me } from '../api/me.ts';
import { to } from '../routing/to.ts';
import { shell } from '../text/en/shell.ts';
import { number } from '../text/format.ts';
import { localZone, useZoneChoice, zoneLabel } from '../time/zone.ts';
import { Brand } from '../ui/Brand.tsx';
import { Link } from '../ui/Link.tsx';
import { Display } from './Display.tsx';
import { useFolding } from './folding.ts';
import { type Group, groupsFor, isAt, type Place } from './navigation.tsx';
import css from './Rail.module.css';
import { SignOut } from './SignOut.tsx';

export interface FrameProps {
  me: Me;
  pathname: string;
  onFind: () => void;
  onHelp: () => void;
}

/** What a place counts: Work Items that wait for a person, alerts that no one has acknowledged. */
const countOf = ({ href }: Place, me: Me): { count: number; words?: string } => {
  const count =
    (href === to('/review') ? me.review_count : href === to('/alerts') ? me.firing_alerts : 0) ?? 0;
  if (count === 0) return { count };
  return { count, words: href === to('/review') ? shell.reviewCount(count) : shell.alertCount(count) };
};

/** Drawn by the style, and no part of a name: that is what the page is called. */
const Count = ({ count }: { count: number }) =>
  count > 0 && <span className={css.count} data-count={number(count)} aria-hidden="true" />;

const Links = ({
  places,
  me,
  pathname,
  ...list
}: {
  places: readonly Place[];
  me: Me;
  pathname: string;
  id?: string;
  hidden?: boolean;
}) => (
  <ul {...list}>
    {places.map((place) => {
      const { count, words } = countOf(place, me);
      return (
        <li key={place.href}>
          {/* Its name is its text: a field "Agents" is then the only one with that label. */}
          <Link
            href={place.href}
            className={css.link}
            aria-current={isAt(place, pathname) ? 'page' : undefined}
            aria-description={words}
          >
            {place.label}
            <Count count={count} />
          </Link>
        </li>
      );
    })}
  </ul>
);

/** A group under a button that folds it. What it counts shows on its name then. */
const FoldingGroup = ({
  group: { title = '', places },
  ...shown
}: {
  group: Group;
  me: Me;
  pathname: string;
}) => {
  const id = useId();
  const { open, toggle } = useFolding(
    title,
    places.some((place) => isAt(place, shown.pathname)),
  );
  const counted = places.map((place) => countOf(place, shown.me));
  return (
    <>
      <button
        type="button"
        className={css.fold}
        aria-expanded={open}
        aria-controls={id}
        aria-description={
          open ? undefined : counted.flatMap(({ words }) => words ?? []).join(', ') || undefined
        }
        onClick={toggle}
      >
        {title}
        {!open && <Count count={counted.reduce((sum, { count }) => sum + count, 0)} />}
      </button>
      <Links {...shown} places={places} id={id} hidden={!open} />
    </>
  );
};

/** From so many places on the rail is higher than many windows. */
const many = 16;

/** The links of the navigation. `folds`: groups of a long one fold. */
export const NavigationLinks = ({
  groups,
  folds = false,
  ...shown
}: {
  groups: readonly Group[];
  folds?: boolean;
  me: Me;
  pathname: string;
}) => {
  const isLong = groups.flatMap(({ places }) => places).length >= many;
  return groups.map((group) => (
    <div key={group.title ?? ''} className={css.group}>
      {folds && isLong && group.folds ? (
        <FoldingGroup {...shown} group={group} />
      ) : (
        <>
          {group.title && <h2 className={css.title}>{group.title}</h2>}
          <Links {...shown} places={group.places} />
        </>
      )}
    </div>
  ));
};

export const nameOf = (me: Me): string => me.user?.name || me.user?.email || me.principal.name;

/** The rail at the left: where one is, and where one can go. */
export const Rail = ({ me, pathname, onFind, onHelp }: FrameProps) => {
  const [choice] = useZoneChoice();
  return (
    <aside className={css.rail} aria-label={shell.rail}>
      <Link href={to('/')} className={css.place} aria-hidden="true" tabIndex={-1}>
        <Brand branding={me.branding} />
      </Link>
      <button type="button" className={css.find} onClick={onFind} aria-keyshortcuts="Control+K Meta+K">
        <span>{shell.find}</span>
        <span aria-hidden="true">{shell.findKeys}</span>
      </button>
      <nav aria-label={shell.main} className={css.nav}>
        <NavigationLinks folds groups={groupsFor(me.operations)} me={me} pathname={pathname} />
      </nav>
      <div className={css.who}>
        <div className={css.name} title={shell.signedInAs(nameOf(me))}>
          {nameOf(me)}
        </div>
        <div className={css.doors}>
          <Display onHelp={onHelp} label={choice === 'utc' ? shell.zones.utc : zoneLabel(localZone())} />
          <SignOut />
        </div>
      </div>
    </aside>
  );
};
