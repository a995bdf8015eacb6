import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Opens plain `<a href="/…">` inside the application, as those in drawings are, without loading the page again. */
export const useRouteLinks = (): void => {
  const router = useRouter();
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      if (event.defaultPrevented || event.button !== 0) return;
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      const link = (event.target as Element | null)?.closest('a');
      const href = link?.getAttribute('href');
      if (!link || !href?.startsWith('/') || href.startsWith('/app/') || link.getAttribute('target')) return;
      event.preventDefault();
      router.history.push(href);
    };
    document.addEventListener('click', onClick);
    return () => document.removeEventListener('click', onClick);
  }, [router]);
};
