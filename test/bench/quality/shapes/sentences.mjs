// Where personal data stands in other people's sets: letters, forms, records, logs, chats in several languages; and numbers
// that are no one's. `{kind}` is filled in; `{id}` is a national number and `{id name}` what people call it there.
export const personal = {
  sentence: [
    'My credit card {card} was stolen, please block it.',
    'I was born on {dob} and live at {address}.',
    'You can reach me at {phone} or {email}.',
    '{name} asked us to send the refund to {iban}.',
    'Hi, this is {name}. My {id name} is {id}, can you update my file?',
    'Please charge the {card} that ends the month after next.',
    'Her passport number is {passport} and it was issued in Lyon.',
    "The applicant's driver's license number is {licence}.",
    'Our new office: {address}. See you there!',
    'What is the limit of card {card}?',
    'His {id name} ({id}) does not match our records.',
    'Kindly forward the parcel to {address}, phone {phone}.',
    'Someone logged in from {ip} last night, was that you?',
    'I moved from {address} last summer.',
    'Send me an SMS at {phone} when ready',
    'my date of birth is {dob}',
    'Bank details: IBAN {iban}, account holder {name}'
  ],
  form: [
    'Name: {name}\nDate of Birth: {dob}\nAddress: {address}\nPhone: {phone}\nEmail: {email}',
    '{id name}: {id}',
    'Full name: {name}\n{id name}: {id}\nNationality: -',
    'Passport No.: {passport}\nDOB: {dob}',
    'Card number: {card}\nExpiry: 09/29\nCVV: ***',
    'Driving licence: {licence}\nDate of birth: {dob}',
    '| Name | {id name} | Phone |\n|---|---|---|\n| {name} | {id} | {phone} |',
    'Customer: {name}; Tel: {phone}; IBAN: {iban}',
    'EMPLOYEE RECORD\n---------------\n{id name} : {id}\nHome address : {address}\nMobile : {phone}',
    'Patient: {name} (born {dob}), {id name} {id}',
    "Driver's License #: {licence}",
    'Licence no {licence}, expires 2027'
  ],
  record: [
    '{"name": "{name}", "email": "{email}", "phone": "{phone}", "dob": "{dob}"}',
    '{"customer": {"iban": "{iban}", "card": "{card}"}}',
    'id,name,email,phone\n1,{name},{email},{phone}',
    "INSERT INTO people (name, email, birth_date) VALUES ('{name}', '{email}', '{dob}');",
    '<person><name>{name}</name><address>{address}</address><phone>{phone}</phone></person>',
    'user: {name}\n  ip: {ip}\n  mac: {mac}',
    '{"document": {"type": "passport", "number": "{passport}"}}',
    '{"id_type": "{id name}", "id_number": "{id}"}',
    'date_of_birth={dob}&passport_number={passport}'
  ],
  log: [
    '2024-05-12 11:02:33 INFO login user={email} ip={ip}',
    '{ip} - - [10/Oct/2023:13:55:36 +0000] "GET /u HTTP/1.1" 200 2326',
    'sent mail to <{email}> (queued)',
    'arp: {ip} at {mac} on en0',
    'payment failed card={card} code=51',
    'sms gateway: to={phone} status=delivered'
  ],
  letter: [
    'Dear {name},\n\nyour order will be delivered to {address}. If you have questions call {phone}.\n\nKind regards',
    'Sehr geehrte Frau {name},\nbitte überweisen Sie den Betrag auf {iban}. Ihre {id name} lautet {id}.',
    "Bonjour, je m'appelle {name}, né le {dob}. Mon adresse : {address}. Tél. {phone}",
    'Hola, soy {name}. Mi teléfono es {phone} y mi correo {email}.',
    'Gentile {name}, la Sua carta {card} è stata addebitata.',
    'Guten Tag, ich wohne in {address}, geboren am {dob}.',
    'Beste {name}, uw {id name} is {id}.',
    'Hej, mitt {id name} är {id}. Ring {phone}.',
    'Olá, o meu {id name} é {id} e o e-mail é {email}.',
    'Dzień dobry, mój {id name} to {id}, adres {address}',
    'Date de naissance : {dob}, passeport n° {passport}',
    'Führerschein Nr. {licence}, Geburtsdatum {dob}',
    'Scan of the passport:\n{mrz}\nplease keep it safe',
    '{mrz}'
  ],
  chat: [
    'u can text me {phone} after 5',
    'card is {card} lol dont tell anyone',
    '{email} is my mail, {address} my address',
    'here u go: {id name} {id}',
    'ip of the guy was {ip}',
    'bday is {dob}, i was born in Lyon',
    'pls ship to {address} thx',
    'my {id name} - {id}. and yes its real',
    'passport {passport}, flying tomorrow'
  ]
}

export const nobody = {
  numbers: [
    'Order {digits9} was shipped on {date}, tracking {upper2}{digits9}US.',
    'Invoice no. {digits8} of {date}, total 1,249.00',
    'ISBN 978-3-16-{digits6}-0 and ISSN 1234-{digits4}',
    'Serial: {digits12}, model {upper3}-{digits4}',
    'The population is {digits7}, the area {digits4} km².',
    'Ticket #{digits6} is blocked by #{digits5}',
    'Set the timeout to {digits5} ms and the limit to {digits8} bytes.',
    'timestamp={epoch} duration={digits3}ms seq={digits10}',
    'build {digits8}.{digits2} of version {v}',
    'UPC {digits12}; SKU {digits6}-{digits4}',
    'GPS 52.{digits6}, 13.{digits6}',
    'ratio {digits2}:{digits2}, at {digits2}:{digits2}:{digits2}',
    'postcode area {digits5}, room {digits3}, seat {digits2}A',
    'phone model SM-{digits4}, firmware {digits10}',
    'Reference: {digits4}-{digits4}-{digits2}',
    'conference id {digits9}, pin on request',
    'the constants are {digits3}, {digits3} and {digits4}',
    '{digits10} downloads since {date}',
    'tax of {digits3}.{digits2} on {digits6}.{digits2}',
    'page {digits3} of {digits3}, chapter {digits2}',
    'error 0x{hex8} at 0x{hex16}',
    'partition {digits11} offset {digits13}',
    'invoice 2024/{digits6}, due {date}'
  ],
  dates: [
    'The meeting is on {date}.',
    'Founded on 12 March 1987 in Basel.',
    'Released {date}, end of life 2027-01-31',
    'created_at: 2023-11-04, updated_at: 2024-01-09',
    'The war ended on 8 May 1945.',
    'Expiry date: 09/2027, issued 01/02/2019'
  ],
  words: [
    'What does a passport number look like?',
    'Please enter your phone number in the form.',
    'Write a regex that matches a social security number.',
    'Where on the card is the IBAN printed?',
    'Validate e-mail addresses like name@domain',
    'He walked down the street for 20 minutes and turned right on the avenue.',
    'We drove 30 miles on the highway and stopped at a 5 star place.',
    'The 3 way valve and a 12 row table',
    'Route 66 and Highway 101 are famous roads.',
    'git@github.com:acme/site.git and ssh root@server',
    '@angular/core@17.0.2 and react@18.2.0',
    'http://127.0.0.1:8080/ and 192.168.0.1 and 10.0.0.12',
    'version 1.2.3.4 of the driver',
    'std::map<std::string, int>::iterator',
    'Date of birth is a required field.',
    'license MIT, version 2.0.{digits2}',
    'My driver licence expired 3 months ago.',
    'Call 911 or 112 in an emergency.',
    'Pi is 3.14159265358979 and e is 2.718281828',
    'The tax id field accepts 11 digits.'
  ]
}

/** Of `{kind}`, what the detectors call it. `{id}` has its own kinds, names of people are not looked for here. */
export const kindOf = {
  card: 'payment_card',
  dob: 'date_of_birth',
  address: 'street_address',
  phone: 'phone',
  email: 'email',
  iban: 'iban',
  passport: 'passport',
  licence: 'driving_licence',
  ip: 'ip_address',
  mac: 'mac_address',
  mrz: 'travel_document'
}
