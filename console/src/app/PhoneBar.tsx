import type { Me } from '../api/me.ts';
import { to } from '../routing/to.ts';
import { shell } from '../text/en/shell.ts';
import { DotsIcon } from '../ui/icons.tsx';
import { Link } from '../ui/Link.tsx';
import { groupsFor, isAt } from './navigation.tsx';
import css from './PhoneBar.module.css';

/** The bar at the bottom of a phone: four places, and "More" for the rest. */
export const PhoneBar = ({ me, pathname, onMore }: { me: Me; pathname: string; onMore: () => void }) => {
  const places = groupsFor(me.operations).flatMap((group) => group.places);
  const here = places.find((place) => isAt(place, pathname));
  return (
    <nav aria-label={shell.main} className={css.bar}>
      {places.map(
        ({ label, href, Icon }) =>
          Icon && (
            <Link
              key={href}
              href={href}
              className={css.entry}
              aria-current={here?.href === href ? 'page' : undefined}
            >
              <Icon />
              {label}
              {href === to('/review') && Boolean(me.review_count) && (
                <span className={css.count} data-count={me.review_count} aria-hidden="true" />
              )}
            </Link>
          ),
      )}
      <button
        type="button"
        className={css.entry}
        data-here={here !== undefined && !here.Icon ? true : undefined}
        onClick={onMore}
      >
        <DotsIcon />
        {shell.more}
      </button>
    </nav>
  );
};
