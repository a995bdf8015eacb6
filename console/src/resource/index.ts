export { ListPage } from './ListPage.tsx';
