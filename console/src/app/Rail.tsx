import type { Me } from '../api/me.ts';
import { to } from '../routing/to.ts';
import { shell } from '../text/en/shell.ts';
import { number } from '../text/format.ts';
import { localZone, useZoneChoice, zoneLabel } from '../time/zone.ts';
import { Brand } from '../ui/Brand.tsx';
import { Link } from '../ui/Link.tsx';
import { Display } from './Display.tsx';
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

/** The links of the navigation. */
export const NavigationLinks = ({
  groups,
  me,
  pathname,
}: {
  groups: readonly Group[];
  me: Me;
  pathname: string;
}) =>
  groups.map((group) => (
    <div key={group.title ?? ''} className={css.group}>
      {group.title && <h2 className={css.title}>{group.title}</h2>}
      <ul>
        {group.places.map((place) => {
          const { count, words } = countOf(place, me);
          return (
            <li key={place.href}>
              <Link
                href={place.href}
                className={css.link}
                aria-current={isAt(place, pathname) ? 'page' : undefined}
                aria-label={place.label}
                aria-description={words}
              >
                {place.label}
                {/* Drawn by the style: it is no part of the name, which is what the page is called. */}
                {count > 0 && <span className={css.count} data-count={number(count)} />}
              </Link>
            </li>
          );
        })}
      </ul>
    </div>
  ));

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
        <NavigationLinks groups={groupsFor(me.operations)} me={me} pathname={pathname} />
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
