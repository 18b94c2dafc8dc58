/** What runs first: it asks the gateway for what the first view shows, while the code of that view is on its way. */
import '@mantine/core/styles.css'
import '@mantine/charts/styles.css'
import '@mantine/notifications/styles.css'
import './dashboard.css'
import { askForView } from './ahead'
import { wasSignedIn } from './known'
import { fetchAhead } from './pages/loads'
import { placeOf } from './place'

const place = placeOf(location.hash)
// In a browser in which somebody was signed in, somebody most likely is.
const isLikely = wasSignedIn()
askForView(place, isLikely)
if (isLikely) fetchAhead(place.page)
// config/vite.config.mjs has it fetched with the page.
void import('./start')
