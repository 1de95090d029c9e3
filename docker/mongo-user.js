// Runs once, when MongoDB begins with an empty volume: the user of the platform, which reaches its own database alone.
db.createUser({
  user: 'ringledger',
  pwd: process.env.MONGO_PASSWORD,
  roles: [{ role: 'readWrite', db: db.getName() }],
})
