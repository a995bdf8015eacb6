import { Outlet, useMatches, useNavigate, useRouterState } from '@tanstack/react-router';
import {
  type ReactNode,
  Suspense,
  startTransition,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useOfflineSince } from '../api/connection.ts';
import { type Me, useMeQuery, usePermission } from '../api/me.ts';
import { leastRoleOf, type OperationId } from '../api/operations.ts';
import { common } from '../text/en/common.ts';
import { shell } from '../text/en/shell.ts';
import { isolate } from '../text/isolate.ts';
import { useClock } from '../time/clock.ts';
import { useKeys } from '../ui/keys.ts';
import { Page } from '../ui/Page.tsx';
import { ErrorState, NoPermission } from '../ui/states.tsx';
import { type SetTitle, TitleContext } from '../ui/title.ts';
import { NotHere } from './Fallbacks.tsx';
import { LeaveQuestion } from './LeaveQuestion.tsx';
import { groupsFor, isAt, navigation, otherPlaces } from './navigation.tsx';
import { Help, More, Palette, preloadOverlays } from './overlays.ts';
import { PhoneBar } from './PhoneBar.tsx';
import { Rail } from './Rail.tsx';
import { recordVisit } from './recent.ts';
import css from './Shell.module.css';

/** The title for who may not see a page: "New schedule", or the list that it is under. */
const titleOf = (pathname: string): string => {
  const places = navigation.flatMap((group) => group.places);
  const made = places.flatMap(({ create }) => create ?? []);
  const exact = [...made, ...otherPlaces].find(({ href }) => href === pathname);
  return (exact ?? places.find((place) => isAt(place, pathname)))?.label ?? common.product;
};

const Refused = ({ operation, pathname }: { operation: OperationId; pathname: string }) => {
  const { role, requiredRole } = usePermission(operation);
  return (
    <Page title={titleOf(pathname)}>
      <NoPermission role={role} requiredRole={requiredRole} />
    </Page>
  );
};

const Guarded = ({ me }: { me: Me }) => {
  const match = useMatches().at(-1);
  const operation = match?.staticData.operation;
  if (operation === undefined || me.operations.includes(operation)) return <Outlet />;
  if (leastRoleOf(operation) === null) return <NotHere />;
  return <Refused operation={operation} pathname={match?.pathname ?? ''} />;
};

/**
 * True once the frame is painted. The first page is rendered after it, as a transition: in parts of 5 ms, where frame
 * and page together are one task of half a second on a slow device.
 */
const useFramed = (): boolean => {
  const [framed, setFramed] = useState(false);
  useEffect(() => startTransition(() => setFramed(true)), []);
  return framed;
};

const Offline = ({ since }: { since: number }) => {
  const words = useClock((now) => shell.offline(Math.max(0, Math.round((now - since) / 1_000) * 1_000)));
  return (
    <div className={css.offline} role="status">
      {words}
    </div>
  );
};

const useGoKeys = (me: Me | undefined) => {
  const navigate = useNavigate();
  const pressed = useRef(0);
  const places = groupsFor(me?.operations ?? []).flatMap((group) => group.places);
  const go = (letter: string) => {
    if (Date.now() - pressed.current > 1_500) return false;
    pressed.current = 0;
    const place = places.find((each) => each.letter === letter);
    if (place) void navigate({ href: place.href });
    return place !== undefined;
  };
  return {
    start: () => {
      pressed.current = Date.now();
    },
    go,
  };
};

/** The dialogs over the page: each is loaded when it is first opened, and stays so that it closes well. */
type Overlay = 'palette' | 'help' | 'more';

/** The frame around the pages: navigation and search. `children` take the place of the page that the address names. */
export const Shell = ({ children }: { children?: ReactNode }) => {
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const loading = useRouterState({ select: (state) => state.isLoading });
  // The counts of Review and Alerts.
  const me = useMeQuery({ every: 60_000 });
  const offline = useOfflineSince();
  const framed = useFramed();
  const [overlay, setOverlay] = useState<Overlay | null>(null);
  const [opened, setOpened] = useState<ReadonlySet<Overlay>>(new Set());
  if (overlay !== null && !opened.has(overlay)) setOpened(new Set([...opened, overlay]));
  const close = () => setOverlay(null);
  useEffect(preloadOverlays, []);
  const main = useRef<HTMLElement>(null);
  const parts = useRef<readonly (string | undefined)[]>([]);
  const count = me.data?.review_count ?? 0;

  const writeTitle = useCallback(() => {
    const known = parts.current.map((part) => part && isolate(part));
    const title = [...known, common.product].filter(Boolean).join(' · ');
    document.title = count > 0 ? shell.titleCount(count, title) : title;
  }, [count]);
  useEffect(writeTitle, [writeTitle]);
  const write = useRef(writeTitle);
  write.current = writeTitle;
  const setTitle = useMemo<SetTitle>(
    () => (next) => {
      parts.current = next;
      write.current();
      recordVisit(location.pathname, next.filter(Boolean).join(' · '));
    },
    [],
  );

  // A screen reader reads the heading of the new page, as it would after loading one.
  const shown = useRef(pathname);
  useEffect(() => {
    if (loading || shown.current === pathname) return;
    shown.current = pathname;
    main.current?.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }, [pathname, loading]);

  const keys = useGoKeys(me.data);
  useKeys({
    '?': () => setOverlay('help'),
    g: keys.start,
    ...Object.fromEntries(
      navigation.flatMap((group) => group.places.map(({ letter }) => [letter!, () => keys.go(letter!)])),
    ),
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (
        event.key.toLowerCase() !== 'k' ||
        !(event.ctrlKey || event.metaKey) ||
        event.shiftKey ||
        event.altKey
      )
        return;
      event.preventDefault();
      setOverlay('palette');
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);

  if (!me.data) {
    return (
      <main className={css.alone}>
        {me.error && me.error.status !== 401 && (
          <>
            <h1>{common.product}</h1>
            <ErrorState error={me.error} onRetry={me.refetch} />
          </>
        )}
      </main>
    );
  }
  return (
    <TitleContext value={setTitle}>
      <div className={css.shell}>
        <a href="#content" className={css.skip}>
          {shell.skip}
        </a>
        <Rail
          me={me.data}
          pathname={pathname}
          onFind={() => setOverlay('palette')}
          onHelp={() => setOverlay('help')}
        />
        <div className={css.column}>
          {offline !== null && <Offline since={offline} />}
          <main id="content" tabIndex={-1} ref={main} className={css.main}>
            {framed && (children ?? <Guarded me={me.data} />)}
          </main>
        </div>
        <PhoneBar me={me.data} pathname={pathname} onMore={() => setOverlay('more')} />
      </div>
      <LeaveQuestion />
      <Suspense>
        {opened.has('palette') && <Palette open={overlay === 'palette'} onClose={close} me={me.data} />}
        {opened.has('help') && <Help open={overlay === 'help'} onClose={close} me={me.data} />}
        {opened.has('more') && (
          <More
            open={overlay === 'more'}
            onClose={close}
            me={me.data}
            pathname={pathname}
            onFind={() => setOverlay('palette')}
            onHelp={() => setOverlay('help')}
          />
        )}
      </Suspense>
    </TitleContext>
  );
};
