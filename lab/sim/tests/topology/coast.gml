# A network of three places.
Creator "recoup"
Version 1
graph [
  directed 0
  Network "Coast"
  DateObtained "1/01/11"
  node [
    id 0
    label "St. José"
    Country "United States"
    Longitude -121.8863
    Internal 1
    Latitude 37.3382
  ]
  node [ id 1 label "Tokyo" Longitude 139.6503 Latitude 35.6762 ]
  node [ id 2 label "Hub" ]
  node [ id 3 label "Hub" ]
  edge [ source 0 target 1 LinkLabel "10 Gbps" LinkSpeedRaw 10000000000.0 ]
  edge [ source 0 target 1 ]
  edge [ source 1 target 1 ]
  edge [ source 1 target 2 ]
  edge [ source 2 target 3 ]
]
