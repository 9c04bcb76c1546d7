import { type Drawing, placesOf } from './layout'

addEventListener('message', (event: MessageEvent<Drawing>) => postMessage(placesOf(event.data)))
